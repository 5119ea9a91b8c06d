// Where the time of objects goes, by step: the first thing to look at.
import { get, type StepKind, type Types } from "../api";
import { useAnswer } from "../hooks";
import { Progress } from "../Progress";
import { count, shown } from "../text";
import { duration } from "../time";

export interface StepsQuery { from: string; to: string; program: string; host: string }

const MOST = 10;
/** Objects may wait long before a stage that is fast: the report, too, looks at the work alone. */
const KINDS = [
  { waiting: false, what: "Working", why: "steps within a stage: from its .start, or to its .end" },
  { waiting: true, what: "Waiting between stages", why: "steps from the .end of a stage, or to the .start of the next one" },
];

export function StepsPanel({ query, types, version, onStep, onSelect }: {
  query: StepsQuery; types: Types | null; version: number; onStep(a: string, b: string): void; onSelect(object: { o: number; id: string }): void;
}) {
  const answer = useAnswer<{ steps: StepKind[] }>(JSON.stringify(query), (signal) => get("/steps", { ...query }, signal), 150, version);
  const { data } = answer;
  const name = (type: number) => types?.types.find((row) => row.type === type)?.name ?? "?";
  const sum = (steps: StepKind[]) => steps.reduce((all, step) => all + step.totalNs, 0);
  const total = sum(data?.steps ?? []);
  const percent = (ns: number) => `${Math.round((ns / Math.max(1, total)) * 100)} %`;
  return (
    <section class="panel" aria-label="Where the time goes">
      <header><h2>Where the time goes</h2></header>
      <Progress of={answer} />
      {data && data.steps.length === 0 && <p>No object passes two event types in this span.</p>}
      {data && data.steps.length > 0 && (
        <table class="steps">
          <thead><tr><th>step</th><th class="number">share</th><th class="number">mean</th><th class="number">slowest</th></tr></thead>
          {KINDS.map(({ waiting, what, why }) => {
            const steps = data.steps.filter((step) => step.waiting === waiting);
            return steps.length > 0 && (
              <tbody>
                <tr><th scope="rowgroup" title={why}>{what}</th><th class="number">{percent(sum(steps))}</th><td /><td /></tr>
                {steps.slice(0, MOST).map((step) => (
                  <tr>
                    <td>
                      <button class="link" title={`${count(step.count)} steps`} onClick={() => onStep(name(step.a), name(step.b))}><bdi>{shown(name(step.a), 60)}</bdi> → <bdi>{shown(name(step.b), 60)}</bdi></button>
                      <meter min={0} max={1} value={step.totalNs / total} aria-label="share of the time" />
                    </td>
                    <td class="number">{percent(step.totalNs)}</td>
                    <td class="number">{duration(step.totalNs / step.count)}</td>
                    <td class="number"><button class="link" onClick={() => onSelect({ o: step.slowest, id: step.slowestId })}>{duration(step.maxNs)}</button></td>
                  </tr>
                ))}
              </tbody>
            );
          })}
        </table>
      )}
    </section>
  );
}
