// The slowest objects of a span, and what they have in common.
import { get, type SlowObject, type Slowest } from "../api";
import { useAnswer } from "../hooks";
import { Progress } from "../Progress";
import { count, shown } from "../text";
import { duration } from "../time";

export interface SlowQuery { from: string; to: string; a: number; b: number; program: string; host: string }

export function SlowPanel({ query, what, onSelect }: { query: SlowQuery; what: string; onSelect(object: SlowObject): void }) {
  const answer = useAnswer<Slowest>(JSON.stringify(query), (signal) => get("/slowest", { ...query, n: 15 }, signal), 150);
  const { data } = answer;
  return (
    <section class="panel" aria-label="Slowest objects">
      <header><h2>Slowest {what}</h2></header>
      <Progress of={answer} />
      {data && (
        <>
          <p>{count(data.count)} in this span. {data.shares.length === 0
            ? "The slowest 5 % have no program, host or process in common more than all have."
            : "What the slowest 5 % have in common:"}</p>
          <ul>
            {data.shares.map((share) => (
              <li>{share.what} <strong><bdi>{shown(share.value, 60)}</bdi></strong>: {Math.round(share.slow * 100)} % of the slow ones, {Math.round(share.all * 100)} % of all</li>
            ))}
          </ul>
          <div class="scroll">
            <table>
              <thead><tr><th>object</th><th class="number">time</th><th>where it ended</th></tr></thead>
              <tbody>
                {data.objects.map((object) => (
                  <tr>
                    <td><button class="link" onClick={() => onSelect(object)}><bdi>{shown(object.id, 40)}</bdi></button></td>
                    <td class="number">{duration(object.ns)}</td>
                    <td><bdi>{shown(object.program, 40)}</bdi> on <bdi>{shown(object.host, 40)}</bdi></td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </section>
  );
}
