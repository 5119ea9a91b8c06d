// The picture of lifelines, and what mouse, fingers and keys do with it.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Line, Lines, TypeRow } from "../api";
import { useSize } from "../hooks";
import type { Colour } from "../link";
import type { Palette } from "../palette";
import { shown } from "../text";
import { absolute, duration, ticks } from "../time";
import { draw, type Picture } from "./draw";
import { hit } from "./hit";
import { layout, timeAt, x } from "./layout";
import { canvasPen, FONT, type Pen, svgPen } from "./pen";

export interface View { from: number; to: number }

export interface ChartProps {
  origin: bigint;
  view: View;
  data: Lines | null;
  /** Types by row. */
  rows: TypeRow[];
  colour: Colour;
  palette: Palette;
  selected: number | null;
  stages: (string | null)[];
  brush: View | null;
  /** Says what this picture is, if there are several. */
  name: string;
  onView(view: View): void;
  onSelect(line: Line | null): void;
  onStage(type: TypeRow): void;
  onBrush(view: View | null): void;
  onMove(type: string, rows: number): void;
  /** Hands over what saves the picture. */
  onExport?(save: (as: "png" | "svg") => void): void;
}

const AXIS = 28;
const LABELS = 190;
const LABELS_ON_PHONES = 112;
const ZOOM = 1.25;
const LEAST_SPAN = 100;

export function zoomed(view: View, factor: number, at: number): View {
  const span = Math.max(LEAST_SPAN, (view.to - view.from) * factor);
  const share = (at - view.from) / (view.to - view.from);
  return { from: at - share * span, to: at + (1 - share) * span };
}

export function moved(view: View, by: number): View {
  return { from: view.from + by, to: view.to + by };
}

export function Chart(props: ChartProps) {
  const [frame, size] = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [scroll, setScroll] = useState(0);
  const [pointer, setPointer] = useState<{ x: number; y: number } | null>(null);
  const drag = useRef<{ x: number; y: number; view: View; scroll: number; brush: boolean; moved: boolean } | null>(null);
  const fingers = useRef(new Map<number, { x: number; y: number }>());

  const labels = size.width < 600 ? LABELS_ON_PHONES : LABELS;
  const width = Math.max(1, size.width - labels);
  const height = Math.max(1, size.height - AXIS);
  const at = useMemo(() => layout(props.rows.map((row) => row.type), width, height, scroll, props.view.from, props.view.to),
    [props.rows, width, height, scroll, props.view.from, props.view.to]);
  const shift = props.data ? Number(BigInt(props.data.base) - props.origin) : 0;
  // Found anew in each picture: an event of the one before has another place, and its time another base.
  const hovered = useMemo(() => {
    const found = pointer && props.data ? hit(at, props.data.lines, shift, pointer.x, pointer.y) : null;
    return pointer && found ? { ...found, ...pointer } : null;
  }, [pointer, props.data, at, shift]);
  const axis = ticks(props.origin, at.from, at.to, width / 110);
  const picture: Picture = {
    layout: at, data: props.data, shift, ticks: axis, colour: props.colour, palette: props.palette,
    selected: props.selected, hovered, brush: props.brush,
  };

  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context) {
      return;
    }
    const ratio = window.devicePixelRatio || 1;
    element.width = Math.round(width * ratio);
    element.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    draw(canvasPen(context), picture);
  });

  useEffect(() => {
    props.onExport?.((as) => save(as, picture, props.rows, labels));
  });

  // Not a handler of the element's: those may not prevent the page from scrolling.
  useEffect(() => {
    const element = canvas.current;
    const wheel = (event: WheelEvent) => {
      event.preventDefault();
      const place = timeAt(at, event.offsetX);
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        props.onView(moved(props.view, ((event.deltaX || event.deltaY) / width) * (props.view.to - props.view.from)));
      } else if (event.altKey) {
        setScroll(at.scroll + event.deltaY);
      } else {
        props.onView(zoomed(props.view, Math.pow(ZOOM, event.deltaY / 100), place));
      }
    };
    element?.addEventListener("wheel", wheel, { passive: false });
    return () => element?.removeEventListener("wheel", wheel);
  }, [at, props.view]);

  const pointerDown = (event: PointerEvent) => {
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
    fingers.current.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    drag.current = { x: event.offsetX, y: event.offsetY, view: props.view, scroll: at.scroll, brush: event.shiftKey, moved: false };
  };

  const pointerMove = (event: PointerEvent) => {
    const start = drag.current;
    if (!start) {
      setPointer({ x: event.offsetX, y: event.offsetY });
      return;
    }
    const others = [...fingers.current].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
    const before = fingers.current.get(event.pointerId);
    fingers.current.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    const other = others[0];
    if (other && before) {
      const factor = Math.max(20, Math.abs(before.x - other.x)) / Math.max(20, Math.abs(event.offsetX - other.x));
      props.onView(zoomed(props.view, factor, timeAt(at, other.x)));
      return;
    }
    start.moved ||= Math.abs(event.offsetX - start.x) + Math.abs(event.offsetY - start.y) > 4;
    if (start.brush) {
      const ends = [timeAt(at, start.x), timeAt(at, event.offsetX)];
      props.onBrush({ from: Math.min(...ends), to: Math.max(...ends) });
    } else if (start.moved) {
      props.onView(moved(start.view, ((start.x - event.offsetX) / width) * (start.view.to - start.view.from)));
      setScroll(start.scroll + start.y - event.offsetY);
    }
  };

  const pointerUp = (event: PointerEvent) => {
    const start = drag.current;
    fingers.current.delete(event.pointerId);
    if (fingers.current.size === 0) {
      drag.current = null;
    }
    if (start && !start.moved && event.type === "pointerup") {
      const found = props.data ? hit(at, props.data.lines, shift, event.offsetX, event.offsetY, 12) : null;
      props.onSelect(found?.line ?? null);
      if (!found) {
        props.onBrush(null);
      }
    }
  };

  const firstRow = Math.max(0, Math.floor(at.scroll / at.row));
  const visible = props.rows.slice(firstRow, Math.ceil((at.scroll + height) / at.row));
  return (
    <div class="chart" ref={frame} role="group" aria-label={props.name}>
      <div class="labels" style={{ width: `${labels}px`, height: `${height}px` }}>
        {visible.map((row, i) => (
          <RowLabel key={row.type} row={row} top={(firstRow + i + 0.5) * at.row - at.scroll} height={at.row}
            stage={props.stages.indexOf(row.name)} onStage={() => props.onStage(row)}
            onMove={(rows) => props.onMove(row.name, rows)} />
        ))}
      </div>
      <canvas ref={canvas} style={{ left: `${labels}px`, width: `${width}px`, height: `${height}px` }}
        role="img" aria-label={`${props.name}: ${props.data?.shown ?? 0} of the objects, ${props.data?.events ?? 0} events`}
        onPointerDown={pointerDown} onPointerMove={pointerMove} onPointerUp={pointerUp} onPointerCancel={pointerUp}
        onPointerLeave={() => setPointer(null)} />
      <div class="axis" style={{ left: `${labels}px`, width: `${width}px`, top: `${height}px` }} aria-hidden="true">
        {axis.map((tick) => (
          <span key={tick.at} class={tick.major ? "major" : ""} style={{ left: `${x(at, tick.at)}px` }}>{tick.label}</span>
        ))}
      </div>
      {hovered && <Tooltip hovered={hovered} width={width} labels={labels} props={props} shift={shift} />}
    </div>
  );
}

function RowLabel(props: {
  row: TypeRow; top: number; height: number; stage: number; onStage(): void; onMove(rows: number): void;
}) {
  const start = useRef<number | null>(null);
  const name = shown(props.row.name, 80);
  return (
    <button class={`label stage${props.stage + 1}`} style={{ top: `${props.top}px` }} title={`${name}: ${props.row.events.toLocaleString("en")} events`}
      aria-pressed={props.stage >= 0}
      onPointerDown={(event) => { start.current = event.clientY; (event.currentTarget as Element).setPointerCapture(event.pointerId); }}
      onPointerUp={(event) => {
        const rows = start.current === null ? 0 : Math.round((event.clientY - start.current) / props.height);
        start.current = null;
        if (rows !== 0) {
          props.onMove(rows);
          event.preventDefault();
        } else {
          props.onStage();
        }
      }}
      onKeyDown={(event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          event.stopPropagation();
          props.onStage();
        } else if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
          event.preventDefault();
          event.stopPropagation();
          props.onMove(event.key === "ArrowUp" ? -1 : 1);
        }
      }}>
      <bdi>{name}</bdi>
    </button>
  );
}

function Tooltip({ hovered, width, labels, props, shift }: {
  hovered: { line: Line; event: number; x: number; y: number }; width: number; labels: number; props: ChartProps; shift: number;
}) {
  const { line, event } = hovered;
  const type = props.rows.find((row) => row.type === line.y[event]);
  const time = props.origin + BigInt(Math.round(line.t[event]! + shift));
  const before = event > 0 ? line.t[event]! - line.t[event - 1]! : null;
  const right = hovered.x > width / 2;
  return (
    <div class="tooltip" role="tooltip" style={{
      left: right ? "auto" : `${labels + hovered.x + 16}px`, right: right ? `${width - hovered.x + 16}px` : "auto", top: `${Math.max(4, hovered.y - 20)}px`,
    }}>
      <strong><bdi>{shown(type?.name ?? "?", 80)}</bdi></strong>
      <div>{absolute(time)}</div>
      {before !== null && <div>{duration(before)} after the event before</div>}
      <div>object <bdi>{shown(line.id, 40)}</bdi>, {duration(line.d)} in all</div>
      <div><bdi>{shown(props.data?.programs[line.p] ?? "", 40)}</bdi> on <bdi>{shown(props.data?.hosts[line.h] ?? "", 40)}</bdi></div>
    </div>
  );
}

/** Saves the picture as a file, with labels and time axis. */
function save(as: "png" | "svg", picture: Picture, rows: TypeRow[], labels: number): void {
  const { layout: at, palette } = picture;
  const width = labels + at.width;
  const height = at.height + AXIS;
  const frame = (pen: Pen) => {
    rows.forEach((row, i) => {
      const middle = (i + 0.5) * at.row - at.scroll;
      if (middle >= 0 && middle <= at.height) {
        pen.text(labels - 8, middle, shown(row.name, 28), palette.text, "end");
      }
    });
    picture.ticks.forEach((tick) => pen.text(labels + x(at, tick.at), at.height + AXIS / 2, tick.label, palette.text, "middle"));
  };
  if (as === "svg") {
    const { pen, document: text } = svgPen(width, height, palette.background);
    frame(pen);
    draw(shifted(pen, labels), picture);
    download(new Blob([text()], { type: "image/svg+xml" }), "lifelines.svg");
    return;
  }
  const element = document.createElement("canvas");
  element.width = width * 2;
  element.height = height * 2;
  const context = element.getContext("2d");
  if (!context) {
    return;
  }
  context.scale(2, 2);
  context.fillStyle = palette.background;
  context.fillRect(0, 0, width, height);
  const pen = canvasPen(context);
  context.font = FONT;
  frame(pen);
  context.save();
  context.beginPath();
  context.rect(labels, 0, at.width, at.height);
  context.clip();
  draw(shifted(pen, labels), picture);
  context.restore();
  element.toBlob((blob) => blob && download(blob, "lifelines.png"));
}

/** A pen whose origin is further to the right. */
function shifted(pen: Pen, by: number): Pen {
  return {
    line: (points, colour, width, alpha) => pen.line(points.map((point) => ({ x: point.x + by, y: point.y })), colour, width, alpha),
    box: (left, top, width, height, colour, alpha) => pen.box(left + by, top, width, height, colour, alpha),
    dot: (left, top, radius, colour) => pen.dot(left + by, top, radius, colour),
    text: (left, top, text, colour, align) => pen.text(left + by, top, text, colour, align),
  };
}

export function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
