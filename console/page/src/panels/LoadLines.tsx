// Load lines: values of numeric fields under the same time axis as the lifelines.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { get, type Series, type SeriesName } from "../api";
import { useAnswer, useSize } from "../hooks";
import type { View } from "../lifelines/Chart";
import type { Palette } from "../palette";
import { Progress } from "../Progress";
import { shown, short } from "../text";

/** @param archived changes when the archive grows; null without one */
interface Props { origin: bigint; view: View; load: string[]; palette: Palette; archived: string | null; onLoad(load: string[]): void }

const key = (name: SeriesName) => `${name.type}/${name.field}`;

export function LoadLines(props: Props) {
  const answer = useAnswer<{ series: SeriesName[] }>(props.archived === null ? null : "names", (signal) => get("/series/names", {}, signal), 30, props.archived);
  if (props.archived === null) {
    return <section class="load" aria-label="Load lines"><p class="hint add">Load lines need an archive.</p></section>;
  }
  const names = answer.data?.series ?? [];
  const free = names.filter((name) => !props.load.includes(key(name)));
  return (
    <section class="load" aria-label="Load lines">
      <Progress of={answer} />
      {props.load.map((one) => {
        const name = names.find((name) => key(name) === one);
        return name && <LoadLine key={one} name={name} {...props} />;
      })}
      {free.length > 0 && (
        <label class="add">Add a load line{" "}
          <select value="" onChange={(event) => props.onLoad([...props.load, event.currentTarget.value])}>
            <option value="">choose a field</option>
            {[...free].sort((a, b) => rank(a) - rank(b)).map((name) => (
              <option value={key(name)}>{shown(name.type, 60)}: {shown(name.field, 40)}{name.unit ? ` (${shown(name.unit, 20)})` : ""}</option>
            ))}
          </select>
        </label>
      )}
    </section>
  );
}

/** Samples of hosts and sockets come first: those are what load lines are for. */
function rank(name: SeriesName): number {
  return name.type.startsWith("host.") ? 0 : name.type.includes("socket") ? 1 : 2;
}

function LoadLine({ origin, view, name, palette, load, onLoad, archived }: Props & { name: SeriesName }) {
  const [frame, size] = useSize<HTMLDivElement>();
  const plot = useRef<uPlot | null>(null);
  const from = (origin + BigInt(Math.max(0, Math.floor(view.from)))).toString();
  const to = (origin + BigInt(Math.max(1, Math.ceil(view.to)))).toString();
  const width = Math.max(1, Math.round(size.width));
  const answer = useAnswer<Series>(width > 1 ? JSON.stringify([from, to, width]) : null,
    (signal) => get("/series", { type: name.type, field: name.field, from, to, width: Math.min(800, width) }, signal), 150, archived);
  const { data } = answer;

  useEffect(() => {
    const element = frame.current;
    if (!element || width <= 1) {
      return undefined;
    }
    const made = new uPlot({
      width, height: 90, legend: { show: false }, cursor: { y: false, drag: { x: false, y: false } },
      scales: { x: { time: false } },
      axes: [{ show: false }, { stroke: palette.text, grid: { stroke: palette.grid, width: 1 }, size: width < 600 ? 112 : 190, values: (_plot, values) => values.map((v) => short(v)) }],
      series: [{}, { stroke: palette.density, width: 1 }, { stroke: palette.accent, width: 1.5 }, { stroke: palette.series[1]!, width: 1 }],
      padding: [4, 0, 4, 0],
    }, [[], [], [], []], element);
    plot.current = made;
    return () => made.destroy();
  }, [width, palette]);

  useEffect(() => {
    if (data && plot.current) {
      const shift = Number(BigInt(data.base) - origin);
      plot.current.setData([data.t.map((t) => t + shift), data.min, data.mean, data.max], false);
    }
    plot.current?.setScale("x", { min: view.from, max: view.to });
    const values = data ? [...data.min, ...data.max] : [];
    plot.current?.setScale("y", { min: Math.min(0, ...values), max: Math.max(1, ...values) });
  }, [data, view.from, view.to, width, palette]);

  return (
    <div class="loadline">
      <header>
        <bdi>{shown(name.type, 60)}: {shown(name.field, 40)}{name.unit ? ` (${shown(name.unit, 20)})` : ""}</bdi>
        <span class="hint">least, mean, greatest</span>
        <button class="plain" onClick={() => onLoad(load.filter((one) => one !== key(name)))} aria-label={`Remove ${shown(name.field, 40)}`}>×</button>
      </header>
      <Progress of={answer} />
      <div ref={frame} class="plot" />
    </div>
  );
}
