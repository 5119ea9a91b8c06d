// Sessions: all of them, the newest first, and what belongs to one.
import { useState } from "preact/hooks";
import { get, type Session, type SessionContent, type SeriesName, type Sessions as Answer, type Status } from "../api";
import { useAnswer } from "../hooks";
import type { Link } from "../link";
import type { Palette } from "../palette";
import { LoadLines } from "../panels/LoadLines";
import { Progress } from "../Progress";
import { count, shown } from "../text";
import { absolute, duration } from "../time";

const LOADS = 3;

interface Props { status: Status; version: string; link: Link; palette: Palette; change(part: Partial<Link>): void }

export function Sessions({ status, version, link, palette, change }: Props) {
  const [text, setText] = useState("");
  const archived = status.archive.state === "none" ? null : version;
  const answer = useAnswer<Answer>(archived === null ? null : text, (signal) => get("/sessions", { text }, signal), 150, archived);
  const { data } = answer;
  if (archived === null) {
    return <p class="empty">Sessions need an archive: this console shows a broker only.</p>;
  }
  return (
    <div class="overview">
      <section class="panel wide" aria-label="Sessions">
        <header><h2>Sessions</h2></header>
        <label>Sessions with <input type="search" value={text} onInput={(event) => setText(event.currentTarget.value)} placeholder="name, ID, program, host" /></label>
        <Progress of={answer} />
        {data && data.sessions.length === 0 && <p class="hint">{text === "" ? "There are no sessions yet: lifeline session -- COMMAND makes one." : "No session has this text."}</p>}
        {data && data.sessions.length > 0 && (
          <>
            <p>{data.complete ? "" : "the newest "}{count(data.sessions.length)} session{data.sessions.length === 1 ? "" : "s"}</p>
            <Table sessions={data.sessions} selected={link.session} onSelect={(session) => change({ session })} />
          </>
        )}
      </section>
      {link.session !== null && <One key={link.session} id={link.session} version={version} link={link} palette={palette} change={change} />}
    </div>
  );
}

function title(session: Session): string {
  return shown(session.name || session.session, 60);
}

function state(session: Session): string {
  return !session.ended ? "no end yet" : session.ok ? "ok" : "failed";
}

function length(session: Session): string {
  return session.from && session.to ? duration(Number(BigInt(session.to) - BigInt(session.from))) : "–";
}

function Table({ sessions, selected, onSelect }: { sessions: Session[]; selected: string | null; onSelect(id: string): void }) {
  return (
    <div class="scroll">
      <table>
        <thead><tr><th>session</th><th>began</th><th class="number">duration</th><th>state</th><th>programs</th><th>hosts</th><th class="number">events</th></tr></thead>
        <tbody>
          {sessions.map((session) => (
            <tr key={session.session} aria-current={session.session === selected ? "true" : undefined}>
              <td><button class="link" onClick={() => onSelect(session.session)} title={shown(session.session, 64)}><bdi>{title(session)}</bdi></button></td>
              <td>{session.from ? absolute(BigInt(session.from)).slice(0, 19) : "–"}</td><td class="number">{length(session)}</td>
              <td class={session.ended && !session.ok ? "bad" : undefined}>{state(session)}</td>
              <td><bdi>{shown(session.programs ?? "", 60)}</bdi></td><td><bdi>{shown(session.hosts ?? "", 60)}</bdi></td>
              <td class="number">{count(session.events)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface OneProps { id: string; version: string; link: Link; palette: Palette; change(part: Partial<Link>): void }

function One({ id, version, link, palette, change }: OneProps) {
  const answer = useAnswer<SessionContent>(id, (signal) => get(`/sessions/${encodeURIComponent(id)}`, {}, signal), 30, version);
  const { data } = answer;
  const names = useAnswer<{ series: SeriesName[] }>("names", (signal) => get("/series/names", {}, signal), 30, version);
  const session = data?.session;
  const load = link.load.length > 0 ? link.load : (names.data?.series ?? []).filter((name) => name.type.startsWith("host.") && name.field !== "cpu")
    .slice(0, LOADS).map((name) => `${name.type}/${name.field}`);
  return (
    <section class="panel wide" aria-label="Session">
      <header><h2><bdi>{session ? title(session) : shown(id, 40)}</bdi></h2><button class="plain" onClick={() => change({ session: null })} aria-label="Close the session">×</button></header>
      <Progress of={answer} />
      {data && session && (
        <>
          <p>
            {state(session)}, {length(session)}{session.from && ` from ${absolute(BigInt(session.from))}`}; ID <code>{shown(session.session, 64)}</code>
            {session.parent && <>; within <button class="link" onClick={() => change({ session: session.parent ?? null })}><bdi>{shown(session.parent, 40)}</bdi></button></>}
          </p>
          <p class="answer">Bottleneck: {shown(data.bottleneck, 400)}</p>
          {session.from && session.to && (
            <button onClick={() => change({ tab: "lifelines", follow: false, from: session.from!, to: session.to! })}>Show its lifelines</button>
          )}
          {data.children.length > 0 && <><h3>Sessions within it</h3><Table sessions={data.children} selected={null} onSelect={(child) => change({ session: child })} /></>}
          <h3>What belongs to it</h3>
          <div class="scroll">
            <table>
              <thead><tr><th>event type</th><th>host</th><th>by</th><th class="number">events</th></tr></thead>
              <tbody>
                {data.types.map((row) => (
                  <tr><td><bdi>{shown(row.type, 80)}</bdi></td><td><bdi>{shown(row.host, 60)}</bdi></td><td>{row.via === "host" ? "its host meanwhile" : "its programs"}</td><td class="number">{count(row.events)}</td></tr>
                ))}
              </tbody>
            </table>
          </div>
          {session.from && session.to && (
            <LoadLines origin={BigInt(session.from)} view={{ from: 0, to: Math.max(1, Number(BigInt(session.to) - BigInt(session.from))) }} load={load} palette={palette}
              archived={version} onLoad={(chosen) => change({ load: chosen })} />
          )}
        </>
      )}
    </section>
  );
}
