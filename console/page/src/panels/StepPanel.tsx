// How long a step takes: distribution, of two spans if there is one to compare with, and durations over time.
import { useEffect, useRef } from "preact/hooks";
import { type Distribution, get, type Heat } from "../api";
import { useAnswer, useSize } from "../hooks";
import type { Palette } from "../palette";
import { Progress } from "../Progress";
import { count } from "../text";
import { duration } from "../time";

export interface StepQuery {
  from: string; to: string; from2: string | null; to2: string | null; a: number; b: number; program: string; host: string;
}

export function StepPanel({ query, what, palette }: { query: StepQuery; what: string; palette: Palette }) {
  const answer = useAnswer<Distribution>(JSON.stringify(query), (signal) => get("/distribution", { ...query }, signal), 150);
  const { data } = answer;
  const { from2: _from2, to2: _to2, ...first } = query;
  const heat = useAnswer<Heat>(JSON.stringify(first), (signal) => get("/heat", { ...first, width: 600 }, signal), 150);
  const names = ["this span", "before"];
  return (
    <section class="panel" aria-label="Time of a step">
      <header><h2>Time {what}</h2></header>
      <Progress of={answer} />
      {data && (
        <>
          <table>
            <thead><tr>{data.spans.length > 1 && <th></th>}{["count", "min", "median", "90 %", "99 %", "max"].map((name) => <th class="number">{name}</th>)}</tr></thead>
            <tbody>
              {data.spans.map((span, i) => (
                <tr>
                  {data.spans.length > 1 && <th scope="row">{names[i]}</th>}
                  <td class="number">{count(span.count)}</td>
                  {[span.min, span.p50, span.p90, span.p99, span.max].map((ns) => <td class="number">{duration(ns)}</td>)}
                </tr>
              ))}
            </tbody>
          </table>
          <Histogram data={data} palette={palette} />
        </>
      )}
      <Progress of={heat} />
      {heat.data && heat.data.edges.length > 1 && <HeatMap data={heat.data} palette={palette} />}
    </section>
  );
}

function Histogram({ data, palette }: { data: Distribution; palette: Palette }) {
  const most = Math.max(1e-9, ...data.spans.flatMap((span) => span.counts.map((n) => n / Math.max(1, span.count))));
  const width = 100 / Math.max(1, data.edges.length - 1);
  return (
    <figure>
      <svg viewBox="0 0 100 40" preserveAspectRatio="none" class="histogram" role="img" aria-label="distribution of the durations">
        {data.spans.map((span, i) => span.counts.map((n, bin) => (
          <rect x={bin * width + (i * width) / data.spans.length} width={(width / data.spans.length) * 0.9}
            y={40 - (40 * n) / Math.max(1, span.count) / most} height={(40 * n) / Math.max(1, span.count) / most} fill={palette.series[i]} />
        )))}
      </svg>
      <figcaption><span>{duration(data.edges[0] ?? 0)}</span><span>{duration(data.edges[data.edges.length - 1] ?? 0)}</span></figcaption>
    </figure>
  );
}

function HeatMap({ data, palette }: { data: Heat; palette: Palette }) {
  const [frame, size] = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context || size.width === 0) {
      return;
    }
    const rows = data.edges.length - 1;
    element.width = data.bins;
    element.height = rows;
    const most = Math.log1p(data.counts.reduce((most, bin) => Math.max(most, ...bin), 1));
    context.fillStyle = palette.accent;
    data.counts.forEach((bin, i) => bin.forEach((n, row) => {
      if (n > 0) {
        context.globalAlpha = 0.15 + (0.85 * Math.log1p(n)) / most;
        context.fillRect(i, rows - 1 - row, 1, 1);
      }
    }));
  }, [data, size.width, palette]);
  return (
    <figure>
      <div ref={frame}><canvas ref={canvas} class="heat" role="img" aria-label={`durations over time, from ${duration(data.edges[0]!)} at the bottom to ${duration(data.edges[data.edges.length - 1]!)} at the top`} /></div>
      <figcaption><span>{duration(data.edges[0]!)} to {duration(data.edges[data.edges.length - 1]!)}, over the time of this span</span></figcaption>
    </figure>
  );
}
