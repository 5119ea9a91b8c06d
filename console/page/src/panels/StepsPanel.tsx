// Where the time of objects goes, by step: the first thing to look at.
import { get, type StepKind, type Types } from "../api";
import { useAnswer } from "../hooks";
import { count, shown } from "../text";
import { duration } from "../time";

export interface StepsQuery { from: string; to: string; program: string; host: string }

const MOST = 12;

export function StepsPanel({ query, types, version, onStep, onSelect }: {
  query: StepsQuery; types: Types | null; version: number; onStep(a: string, b: string): void; onSelect(object: { o: number; id: string }): void;
}) {
  const { data, error } = useAnswer<{ steps: StepKind[] }>(JSON.stringify([query, version]), (signal) => get("/steps", { ...query }, signal), 150);
  const name = (type: number) => types?.types.find((row) => row.type === type)?.name ?? "?";
  const total = data?.steps.reduce((sum, step) => sum + step.totalNs, 0) ?? 0;
  return (
    <section class="panel" aria-label="Where the time goes">
      <header><h2>Where the time goes</h2></header>
      {error && <p class="error">{error}</p>}
      {data && data.steps.length === 0 && <p>No object passes two event types in this span.</p>}
      {data && data.steps.length > 0 && (
        <table class="steps">
          <thead><tr><th>step</th><th class="number">share</th><th class="number">mean</th><th class="number">slowest</th></tr></thead>
          <tbody>
            {data.steps.slice(0, MOST).map((step) => (
              <tr>
                <td>
                  <button class="link" title={`${count(step.count)} steps`} onClick={() => onStep(name(step.a), name(step.b))}><bdi>{shown(name(step.a), 60)}</bdi> → <bdi>{shown(name(step.b), 60)}</bdi></button>
                  <meter min={0} max={1} value={step.totalNs / total} aria-label="share of the time" />
                </td>
                <td class="number">{Math.round((step.totalNs / total) * 100)} %</td>
                <td class="number">{duration(step.totalNs / step.count)}</td>
                <td class="number"><button class="link" onClick={() => onSelect({ o: step.slowest, id: step.slowestId })}>{duration(step.maxNs)}</button></td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
