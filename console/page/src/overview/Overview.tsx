// The state of everything on one page: the bottleneck, whether all events are accounted for, who emits.
import { useState } from "preact/hooks";
import { ActivationList } from "../activations/ActivationList";
import { get, type Ledger, type Report, type Status, type Types } from "../api";
import { useAnswer } from "../hooks";
import type { Link } from "../link";
import type { Palette } from "../palette";
import { Progress } from "../Progress";
import { count, short, shown } from "../text";
import { duration } from "../time";
import { Alerts } from "./Alerts";
import { Emitters } from "./Emitters";
import { Summaries } from "./Summaries";

const MOST_ROWS = 200;

interface Props { status: Status; version: string; types: Types | null; link: Link; palette: Palette; change(part: Partial<Link>): void }

export function Overview({ status, version, types, link, palette, change }: Props) {
  const archived = status.archive.state === "none" ? null : version;
  const report = useAnswer<Report>(archived === null ? null : "report", (signal) => get("/report", {}, signal), 30, archived);
  const ledger = useAnswer<Ledger>(archived === null ? null : "ledger", (signal) => get("/ledger", {}, signal), 30, archived);
  return (
    <div class="overview">
      <section class="panel" aria-label="Bottleneck">
        <header><h2>Bottleneck</h2></header>
        {archived === null && <NoArchive />}
        <Progress of={report} />
        {report.data && (
          <>
            <p class="answer">{report.data.bottleneck}</p>
            {report.data.stages.length > 0 && <Stages report={report.data} />}
          </>
        )}
      </section>
      <section class="panel" aria-label="Ledger">
        <header><h2>Ledger</h2></header>
        {archived === null && <NoArchive />}
        {report.data && <Balance report={report.data} />}
        <Progress of={ledger} />
        {ledger.data && <Accounts ledger={ledger.data} />}
      </section>
      {status.broker.state !== "none" && <Alerts />}
      <Summaries status={status} types={types} from={link.follow ? null : link.from} to={link.follow ? null : link.to} palette={palette}
        onStep={(a, b) => change({ tab: "lifelines", a, b })} />
      {status.broker.state !== "none" && (
        <>
          <ActivationList allowed={status.user.role !== "view"} />
          <Emitters />
        </>
      )}
      {types && <EventTypes types={types} />}
    </div>
  );
}

function EventTypes({ types }: { types: Types }) {
  const [filter, setFilter] = useState("");
  const rows = types.types.filter((type) => type.name.toLowerCase().includes(filter.toLowerCase()));
  return (
    <section class="panel" aria-label="Event types">
      <header><h2>Event types</h2></header>
      <label>Types with <input type="search" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} /></label>
      <p>{count(rows.length)} of {count(types.types.length)} event types{rows.length > MOST_ROWS ? `, the first ${MOST_ROWS} of them` : ""}</p>
      <div class="scroll">
        <table>
          <thead><tr><th>type</th><th>level</th><th class="number">events shown</th></tr></thead>
          <tbody>
            {rows.slice(0, MOST_ROWS).map((type) => (
              <tr><td><bdi>{shown(type.name, 80)}</bdi></td><td>{type.level}</td><td class="number">{count(type.events)}</td></tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function NoArchive() {
  return <p class="hint">This console shows a broker only. Give it the archive, too, to see this.</p>;
}

function Stages({ report }: { report: Report }) {
  return (
    <div class="scroll">
      <table>
        <thead><tr><th>stage</th><th>at work</th><th class="number">operations</th><th class="number">bytes</th><th class="number">mean</th><th class="number">99 %</th></tr></thead>
        <tbody>
          {report.stages.map((stage) => (
            <tr>
              <td><bdi>{shown(stage.name, 60)}</bdi></td>
              <td>{stage.working === null ? "–" : <><meter min={0} max={1} value={stage.working} aria-label={`${stage.name} at work`} /> {Math.round(stage.working * 100)} %</>}</td>
              <td class="number">{count(stage.count)}</td><td class="number">{short(stage.bytes)}</td>
              <td class="number">{duration(stage.meanNs)}</td><td class="number">{duration(stage.p99Ns)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Balance({ report: { balance } }: { report: Report }) {
  const parts: [string, number][] = [["archived", balance.archived], ["in flight", balance.inFlight], ["dropped", balance.dropped],
    ["missing", balance.missing], ["duplicated", balance.duplicated]];
  return (
    <p class={balance.balanced ? "good" : "bad"}>
      <strong>{balance.balanced ? "Balanced" : "Not balanced"}</strong>: {count(balance.emitted)} emitted ={" "}
      {parts.map(([name, n]) => `${count(n)} ${name}`).join(", ")}
    </p>
  );
}

function Accounts({ ledger }: { ledger: Ledger }) {
  const [filter, setFilter] = useState("");
  const rows = ledger.rows.filter((row) => `${row.program} ${row.host} ${row.pid} ${row.route}`.includes(filter));
  return (
    <>
      <label>Emitters with <input type="search" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} placeholder="program, host, pid" /></label>
      <p>{count(rows.length)} of {count(ledger.rows.length)} routes of emitters{rows.length > MOST_ROWS ? `, the first ${MOST_ROWS} of them` : ""}</p>
      <div class="scroll">
        <table>
          <thead><tr><th>program</th><th>host</th><th class="number">pid</th><th>route</th><th>state</th><th class="number">emitted</th><th class="number">archived</th><th>dropped</th><th class="number">missing</th></tr></thead>
          <tbody>
            {rows.slice(0, MOST_ROWS).map((row) => (
              <tr>
                <td><bdi>{shown(row.program, 60)}</bdi></td><td><bdi>{shown(row.host, 60)}</bdi></td><td class="number">{row.pid}</td>
                <td><bdi>{shown(row.route, 31)}</bdi></td><td>{row.ended ? "ended" : "running or lost"}</td>
                <td class="number">{row.emitted}</td><td class="number">{row.archived}</td>
                <td>{Object.entries(row.reasons).map(([reason, n]) => `${reason} ${n}`).join(", ") || "0"}</td><td class="number">{row.missing}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
