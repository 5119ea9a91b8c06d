// The directory: who emits, how much, what is dropped, and how far clocks are apart.
import { useState } from "preact/hooks";
import { type Emitter, type Emitters as Answer, get } from "../api";
import { useAnswer, useTick } from "../hooks";
import { Progress } from "../Progress";
import { count, short, shown } from "../text";
import { absolute, duration } from "../time";

export function Emitters() {
  const [program, setProgram] = useState("");
  const [host, setHost] = useState("");
  const [ahead, setAhead] = useState(false);
  const tick = useTick(2000);
  const query = { program: program && `*${program}*`, host: host && `*${host}*`, ahead: String(ahead) };
  const answer = useAnswer<Answer>(JSON.stringify(query), (signal) => get("/emitters", query, signal), 30, tick);
  const { data } = answer;
  return (
    <section class="panel wide" aria-label="Emitters">
      <header><h2>Emitters</h2></header>
      <Progress of={answer} />
      {data && (
        <>
          <label>Programs with <input type="search" value={program} onInput={(event) => setProgram(event.currentTarget.value)} /></label>{" "}
          <label>Hosts with <input type="search" value={host} onInput={(event) => setHost(event.currentTarget.value)} /></label>
          {(data.ahead > 0 || ahead) && (
            <p class="bad">
              <strong>{data.ahead === 1 ? "1 clock is ahead" : `${count(data.ahead)} clocks are ahead`}</strong>: what those emitters say seems later than it is.{" "}
              <label><input type="checkbox" checked={ahead} onChange={(event) => setAhead(event.currentTarget.checked)} /> only clocks that are ahead</label>
            </p>
          )}
          <p>{data.count === 1 ? "1 emitter" : `${count(data.count)} emitters`}, {short(data.eventsPerSecond)} events/s{data.rows.length < data.count ? `; the ${count(data.rows.length)} heard last` : ""}</p>
          <div class="scroll">
            <table>
              <thead><tr><th>program</th><th>host</th><th class="number">pid</th><th>state</th><th>since</th><th class="number">events/s</th><th class="number">emitted</th><th>dropped</th><th>kept back</th><th>clock to broker</th><th>follows</th></tr></thead>
              <tbody>{data.rows.map((row) => <Row row={row} />)}</tbody>
            </table>
          </div>
        </>
      )}
    </section>
  );
}

function Row({ row }: { row: Emitter }) {
  const back = ([["sampled out", row.sampledOut], ["below threshold", row.belowThreshold], ["folded", row.folded]] as const).filter(([, n]) => n !== "0");
  return (
    <tr>
      <td><bdi>{shown(row.program, 60)}</bdi></td><td><bdi>{shown(row.host, 60)}</bdi></td><td class="number">{row.pid}</td>
      <td>{row.state}</td><td>{absolute(BigInt(row.firstMs) * 1_000_000n).slice(0, 19)}</td>
      <td class="number">{short(row.eventsPerSecond)}</td><td class="number">{row.emitted}</td>
      <td>{Object.entries(row.drops).map(([reason, n]) => `${reason} ${n}`).join(", ") || "0"}{row.spooled === "0" ? "" : `; ${row.spooled} spooled`}</td>
      <td>{back.map(([what, n]) => `${n} ${what}`).join(", ") || "0"}</td>
      <td><Clock row={row} /></td>
      <td title={shown(Object.entries(row.inForce).map(([id, line]) => `${id}: ${line}`).join("\n"), 2000)}>{Object.keys(row.inForce).map((id) => shown(id, 20)).join(", ") || "–"}</td>
    </tr>
  );
}

function Clock({ row }: { row: Emitter }) {
  if (row.clockMs === null) {
    return <>–</>;
  }
  return (
    <span class={row.clockAhead || row.clockUncertain ? "bad" : ""} title="the least time from the emitter's clock to the broker's: transport and difference of the clocks">
      {row.clockAhead ? <strong>at least {duration(-row.clockMs * 1e6)} ahead</strong> : duration(row.clockMs * 1e6)} ± {duration(row.clockErrorNs)}
      {row.clockUncertain && <strong>, uncertain</strong>}
    </span>
  );
}
