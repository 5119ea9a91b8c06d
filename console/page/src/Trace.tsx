// The view of lifelines: which part of the time is shown, what is selected, and the panels beside the picture.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { inFull } from "./activations/lines";
import { SwitchOn } from "./activations/SwitchOn";
import { get, type Line, type Lines, type Status, type TypeRow, type Types } from "./api";
import { useAnswer } from "./hooks";
import { Chart, moved, type View, zoomed } from "./lifelines/Chart";
import type { Colour, Link } from "./link";
import { LoadLines } from "./panels/LoadLines";
import { ObjectPanel } from "./panels/ObjectPanel";
import { SlowPanel } from "./panels/SlowPanel";
import { StepsPanel } from "./panels/StepsPanel";
import { StepPanel } from "./panels/StepPanel";
import type { Palette } from "./palette";
import { Progress } from "./Progress";
import { count, shown } from "./text";
import { absolute, duration } from "./time";

interface Props { status: Status; types: Types | null; link: Link; palette: Palette; change(part: Partial<Link>): void }

const NEWEST_SPAN = 10e9;
const LINES = 1500;

/** Rows in the order that objects pass them, or in the order that somebody chose; new types come last. */
function ordered(types: Types, order: string[], filter: string): TypeRow[] {
  const place = new Map(order.map((name, i) => [name, i]));
  const natural = new Map(types.order.map((type, i) => [type, i]));
  return types.types
    .filter((row) => row.name.toLowerCase().includes(filter.toLowerCase()))
    .sort((a, b) => (place.get(a.name) ?? 1e9) - (place.get(b.name) ?? 1e9) || natural.get(a.type)! - natural.get(b.type)!);
}

export function Trace({ status, types, link, palette, change }: Props) {
  const { index } = status;
  const origin = useRef<bigint | null>(null);
  if (origin.current === null && index.fromNs !== null) {
    origin.current = BigInt(link.from ?? index.fromNs);
  }
  if (origin.current === null || index.fromNs === null || index.toNs === null) {
    return <p class="empty">{index.loading ? "Reading the archive…" : "There are no events yet. They appear here as soon as a program emits some."}</p>;
  }
  return <Loaded status={status} types={types} link={link} palette={palette} change={change} origin={origin.current}
    first={Number(BigInt(index.fromNs) - origin.current)} last={Number(BigInt(index.toNs) - origin.current)} />;
}

function Loaded({ status, types, link, palette, change, origin, first, last }: Props & { origin: bigint; first: number; last: number }) {
  const relative = (ns: string) => Number(BigInt(ns) - origin);
  const filters = { program: link.program, host: link.host, session: link.session };
  const isFiltered = Boolean(link.program || link.host || link.session);
  const selected = useAnswer<Types>(isFiltered ? JSON.stringify(filters) : null, (signal) => get("/types", filters, signal), 150, status.index.events);
  const chosen = selected.data ?? types;
  const [begin, end] = selected.data?.fromNs && selected.data.toNs ? [relative(selected.data.fromNs), relative(selected.data.toNs)] : [first, last];
  const margin = Math.max(1000, (end - begin) * 0.01);
  const all = { from: begin - margin, to: end + margin };
  const [free, setFree] = useState<View | null>(link.from !== null && link.to !== null ? { from: relative(link.from), to: relative(link.to) } : null);
  const [brush, setBrush] = useState<View | null>(null);
  const [object, setObject] = useState<number | null>(null);
  const [panels, setPanels] = useState(true);
  const exporter = useRef<((as: "png" | "svg") => void) | null>(null);

  const span = free ? free.to - free.from : NEWEST_SPAN;
  const view = link.follow ? { from: last - span * 0.98, to: last + span * 0.02 } : free ?? all;
  const setView = (next: View) => {
    setFree(next);
    change({ follow: false, from: stamp(next.from), to: stamp(next.to) });
  };
  const stamp = (at: number) => {
    const ns = origin + BigInt(Math.round(at));
    return (ns < 0n ? 0n : ns).toString();
  };
  const showAll = () => {
    setFree(null);
    change({ follow: false, from: null, to: null });
  };
  const setFollow = (follow: boolean) => {
    if (!follow) {
      setFree(view);
    } else if (!free) {
      setFree({ from: last - NEWEST_SPAN, to: last });
    }
    change({ follow, from: null, to: null });
  };

  const asked = { from: stamp(view.from), to: stamp(view.to), width: 1200, lines: LINES, ...filters };
  const lines = useAnswer<Lines>(JSON.stringify(asked), (signal) => get("/lifelines", asked, signal), 30, status.index.events);
  const before = link.before ? { from: relative(link.before.split("-")[0]!), to: relative(link.before.split("-")[1]!) } : null;
  const askedBefore = before && { ...asked, from: stamp(before.from), to: stamp(before.to) };
  const linesBefore = useAnswer<Lines>(askedBefore ? JSON.stringify(askedBefore) : null, (signal) => get("/lifelines", { ...askedBefore }, signal));

  const rows = useMemo(() => (chosen ? ordered(chosen, link.order, link.types) : []), [chosen, link.order, link.types]);
  const stages = [link.a, link.b];
  const number = (name: string | null) => types?.types.find((row) => row.name === name)?.type ?? -1;

  // A link names an object by its id; its number is that of this console.
  useEffect(() => {
    if (link.object !== null && object === null) {
      get<Lines>("/lifelines", { from: stamp(all.from), to: stamp(all.to), id: link.object, width: 1 })
        .then((found) => found.lines[0] && setObject(found.lines[0].o), () => undefined);
    }
  }, []);

  const select = (selected: { o: number; id: string } | null) => {
    setObject(selected?.o ?? null);
    change({ object: selected?.id ?? null });
  };
  const selectStage = (row: TypeRow) => {
    const name = row.name;
    if (link.a === name || link.b === name) {
      change({ a: link.a === name ? link.b : link.a, b: null });
    } else if (link.a === null || link.b !== null) {
      change({ a: name, b: null });
    } else {
      const place = (one: string) => rows.findIndex((any) => any.name === one);
      change(place(link.a) <= place(name) ? { b: name } : { a: name, b: link.a });
    }
  };
  const move = (name: string, by: number) => {
    const names = rows.map((row) => row.name);
    const at = names.indexOf(name);
    names.splice(at, 1);
    names.splice(Math.max(0, Math.min(names.length, at + by)), 0, name);
    change({ order: names });
  };

  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      const target = event.target as Element;
      if (target.closest("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) {
        return;
      }
      const width = view.to - view.from;
      const middle = (view.from + view.to) / 2;
      const actions: Record<string, () => void> = {
        ArrowLeft: () => setView(moved(view, -width / 8)),
        ArrowRight: () => setView(moved(view, width / 8)),
        "+": () => setView(zoomed(view, 1 / 1.5, middle)),
        "=": () => setView(zoomed(view, 1 / 1.5, middle)),
        "-": () => setView(zoomed(view, 1.5, middle)),
        "0": showAll,
        " ": () => setFollow(!link.follow),
        Escape: () => {
          select(null);
          setBrush(null);
          change({ a: null, b: null, object: null });
        },
      };
      const action = actions[event.key];
      if (action && !(event.key === " " && target.closest("button"))) {
        event.preventDefault();
        action();
      }
    };
    window.addEventListener("keydown", key);
    return () => window.removeEventListener("keydown", key);
  });

  const part = brush ?? view;
  const isStep = link.a !== null && link.b !== null;
  const measured = { from: stamp(part.from), to: stamp(part.to), a: isStep ? number(link.a) : -1, b: isStep ? number(link.b) : -1, ...filters };
  // A step is measured only between types that are known: without them, the figures would be those of whole objects.
  const unknown = isStep && types ? [link.a!, link.b!].filter((name) => number(name) < 0) : [];
  const isMeasured = !isStep || (types !== null && unknown.length === 0);
  const step = isStep ? `between ${shown(link.a ?? "", 60)} and ${shown(link.b ?? "", 60)}` : "of whole objects";
  const chart = { origin, rows, colour: link.colour, palette, selected: object, stages, onSelect: (line: Line | null) => select(line), onStage: selectStage, onMove: move };
  return (
    <div class={`trace ${panels ? "" : "wide"}`} aria-busy={lines.loading || linesBefore.loading}>
      <Toolbar link={link} change={change} data={lines.data} view={view} origin={origin} onAll={showAll} onFollow={() => setFollow(!link.follow)}
        onZoom={(factor) => setView(zoomed(view, factor, (view.from + view.to) / 2))} onBefore={() => change({ before: link.before ? null : `${stamp(view.from)}-${stamp(view.to)}` })}
        onSave={(as) => exporter.current?.(as)} onPanels={() => setPanels(!panels)} panels={panels} />
      <Progress of={lines} />
      <div class="pictures">
        {before && (
          <Chart {...chart} name="Lifelines before" view={before} data={linesBefore.data} brush={null}
            onView={(next) => change({ before: `${stamp(next.from)}-${stamp(next.to)}` })} onBrush={() => undefined} />
        )}
        <Chart {...chart} name="Lifelines" view={view} data={lines.data} brush={brush} onView={setView} onBrush={setBrush}
          onExport={(save) => { exporter.current = save; }} />
      </div>
      <LoadLines origin={origin} view={view} load={link.load} palette={palette} archived={status.archive.state === "none" ? null : String(status.index.events)} onLoad={(load) => change({ load })} />
      {panels && (
        <aside aria-label="Details">
          {object !== null && <ObjectPanel object={object} onClose={() => select(null)} />}
          {status.broker.state !== "none" && status.user.role !== "view" && inFull(stages, link.program, link.host).map((line) => (
            <section class="panel" aria-label={`Switch on ${line}`}>
              <SwitchOn line={line} seconds={300} label={`${line}: for five minutes`} />
            </section>
          ))}
          <StepsPanel query={{ from: measured.from, to: measured.to, ...filters }} types={types} version={status.index.events}
            onStep={(a, b) => change({ a, b })} onSelect={select} />
          {unknown.length > 0 && (
            <section class="panel" aria-label="Time of a step">
              <header><h2>Time {step}</h2></header>
              <p class="error" role="alert">There is no event type {unknown.map((name, i) => <>{i > 0 && " and no "}<strong><bdi>{shown(name, 60)}</bdi></strong></>)} in these events. Choose two rows of the picture.</p>
            </section>
          )}
          {isMeasured && (
            <>
              <StepPanel key={step} query={{ ...measured, from2: before && stamp(before.from), to2: before && stamp(before.to) }} what={step} palette={palette} />
              <SlowPanel key={`slow ${step}`} query={measured} what={isStep ? `steps ${step}` : "objects"} onSelect={select} />
            </>
          )}
          <Legend data={lines.data} colour={link.colour} palette={palette} />
        </aside>
      )}
    </div>
  );
}

function Toolbar(props: {
  link: Link; change(part: Partial<Link>): void; data: Lines | null; view: View; origin: bigint; panels: boolean;
  onAll(): void; onFollow(): void; onZoom(factor: number): void; onBefore(): void; onSave(as: "png" | "svg"): void; onPanels(): void;
}) {
  const { link, change, data, view } = props;
  return (
    <div class="toolbar" role="toolbar" aria-label="View">
      <button onClick={props.onFollow} aria-pressed={link.follow} title="Space">{link.follow ? "❚❚ Pause" : "▶ Follow"}</button>
      <button onClick={props.onAll} title="0">All</button>
      <button onClick={() => props.onZoom(1 / 1.5)} aria-label="Zoom in" title="+">+</button>
      <button onClick={() => props.onZoom(1.5)} aria-label="Zoom out" title="-">−</button>
      <label>Colour <select value={link.colour} onChange={(event) => change({ colour: event.currentTarget.value as Colour })}>
        {["outcome", "program", "host"].map((one) => <option>{one}</option>)}
      </select></label>
      <label>Types <input type="search" size={10} value={link.types} onInput={(event) => change({ types: event.currentTarget.value })} placeholder="all" /></label>
      <label>Program <input type="search" size={8} value={link.program} onInput={(event) => change({ program: event.currentTarget.value })} placeholder="*" /></label>
      <label>Host <input type="search" size={8} value={link.host} onInput={(event) => change({ host: event.currentTarget.value })} placeholder="*" /></label>
      {link.session !== null && <button onClick={() => change({ session: null })} aria-label="Show all sessions">Session <bdi>{shown(link.session, 12)}</bdi> ×</button>}
      <button onClick={props.onBefore} aria-pressed={link.before !== null}>{link.before ? "End comparison" : "Compare with this"}</button>
      <button onClick={() => props.onSave("png")}>PNG</button>
      <button onClick={() => props.onSave("svg")}>SVG</button>
      <button onClick={props.onPanels} aria-pressed={props.panels}>Details</button>
      <p class="span">
        {duration(view.to - view.from)} from {absolute(props.origin + BigInt(Math.round(view.from))).slice(0, 23)}
        {data && `: ${count(data.events)} events`}{data?.reduced ? `, the slowest and fastest ${count(data.shown)} objects drawn` : data ? `, ${count(data.shown)} objects` : ""}
      </p>
    </div>
  );
}

function Legend({ data, colour, palette }: { data: Lines | null; colour: Colour; palette: Palette }) {
  const names = !data ? [] : colour === "outcome" ? ["ended", "with an error", "not ended"] : colour === "program" ? data.programs : data.hosts;
  const colours = colour === "outcome" ? palette.outcomes : palette.series;
  return (
    <section class="panel legend" aria-label="Colours">
      <header><h2>Colours: {colour}</h2></header>
      <ul>{names.slice(0, 20).map((name, i) => <li><svg width="22" height="10" aria-hidden="true"><rect y="3" width="22" height="4" fill={colours[i % colours.length]} /></svg> <bdi>{shown(name, 40)}</bdi></li>)}</ul>
    </section>
  );
}
