// How long steps take, over the time that the picture of lifelines shows: a small chart for each kind of step, those with the
// most time first.
import { get, type Status, type Summaries as Answer, type Summary, type Types } from "../api";
import { useAnswer, useTick } from "../hooks";
import type { Palette } from "../palette";
import { Progress } from "../Progress";
import { count, shown } from "../text";
import { duration } from "../time";

interface Props {
  status: Status; types: Types | null; from: string | null; to: string | null; palette: Palette;
  /** Shows a step in the picture. */
  onStep(a: string, b: string): void;
}

const PARTS = 40;
const PERCENTILES = ["p50", "p90", "p99"] as const;
const NAMES = { p50: "50 %", p90: "90 %", p99: "99 %" };

export function Summaries({ status, types, from, to, palette, onStep }: Props) {
  const { index } = status;
  const tick = useTick(2000);
  const asked = { from: from ?? index.fromNs, to: to ?? index.toNs, parts: PARTS };
  // Events that arrive change the answer, but so often as they do nobody could read it.
  const version = status.broker.state === "none" ? index.events : tick;
  const answer = useAnswer<Answer>(asked.from === null || asked.to === null ? null : JSON.stringify([from, to]), (signal) => get("/summaries", asked, signal), 30, version);
  const { data } = answer;
  const name = (type: number) => types?.types[type]?.name ?? "?";
  return (
    <section class="panel wide" aria-label="Durations">
      <header><h2>Durations of steps</h2></header>
      <Progress of={answer} />
      {asked.from === null && <p>There are no events yet.</p>}
      {data && (
        <>
          <p class="hint">
            {data.rows.length === 0 ? "No object has passed two events" : `Percentiles over ${from === null && to === null ? "all the time" : "the time shown in lifelines"}; the steps with the most time in all come first`}
            {data.oneIn > 1 && `; of one in ${data.oneIn} events`}
          </p>
          <ul class="summaries">
            {data.rows.map((row) => <Chart key={`${row.a}-${row.b}`} row={row} parts={data.parts} name={`${shown(name(row.a), 60)} → ${shown(name(row.b), 60)}`}
              palette={palette} onStep={() => onStep(name(row.a), name(row.b))} />)}
          </ul>
        </>
      )}
    </section>
  );
}

function Chart({ row, parts, name, palette, onStep }: { row: Summary; parts: number; name: string; palette: Palette; onStep(): void }) {
  // A logarithmic scale: one slow part would press all others to the ground.
  const lengths = PERCENTILES.flatMap((one) => row[one]).map((ns) => Math.log(Math.max(1, ns)));
  const least = lengths.reduce((a, b) => Math.min(a, b), Infinity);
  const most = lengths.reduce((a, b) => Math.max(a, b), -Infinity);
  const y = (ns: number) => (most - least < 1e-9 ? 20 : 38 - (36 * (Math.log(Math.max(1, ns)) - least)) / (most - least));
  const last = row.part.length - 1;
  return (
    <li>
      <button class="link" onClick={onStep} title="Show the step in lifelines"><bdi>{name}</bdi></button>
      <div class="hint">{count(row.count)} steps, {duration(row.totalNs)} in all, at most {duration(row.maxNs)}</div>
      <div class="lines">
        <svg viewBox="0 0 100 40" preserveAspectRatio="none" role="img" aria-label={`percentiles of ${name} over time`}>
          {PERCENTILES.map((one, i) => (
            <polyline points={row.part.flatMap((part, at) => [part, part + 1].map((end) => `${(100 * end) / parts},${y(row[one][at]!)}`)).join(" ")}
              fill="none" stroke={palette.series[i]!} stroke-width="1.5" vector-effect="non-scaling-stroke" />
          ))}
        </svg>
        <dl>
          {[...PERCENTILES].reverse().map((one) => (
            <div><dt><svg viewBox="0 0 10 10" aria-hidden="true"><rect width="10" height="10" fill={palette.series[PERCENTILES.indexOf(one)]!} /></svg>{NAMES[one]}</dt><dd>{last < 0 ? "–" : duration(row[one][last]!)}</dd></div>
          ))}
        </dl>
      </div>
    </li>
  );
}
