// Where things are in the picture of lifelines. Drawing on the canvas, SVG and looking for what the mouse points at share it.
import type { Line } from "../api";

export interface Layout {
  width: number;
  height: number;
  /** Height of a row. */
  row: number;
  /** Types by row, from the top; only those that pass the filter. */
  rows: number[];
  rowOf: Map<number, number>;
  /** Pixels that are scrolled away at the top. */
  scroll: number;
  /** Span in nanoseconds since the origin. */
  from: number;
  to: number;
}

const LEAST_ROW = 20;
const GREATEST_ROW = 64;

export function layout(rows: number[], width: number, height: number, scroll: number, from: number, to: number): Layout {
  const row = Math.max(LEAST_ROW, Math.min(GREATEST_ROW, height / Math.max(1, rows.length)));
  const most = Math.max(0, rows.length * row - height);
  return {
    width, height, row, rows, rowOf: new Map(rows.map((type, i) => [type, i])),
    scroll: Math.max(0, Math.min(most, scroll)), from, to: Math.max(to, from + 1),
  };
}

export function x(at: Layout, time: number): number {
  return ((time - at.from) / (at.to - at.from)) * at.width;
}

export function timeAt(at: Layout, pixel: number): number {
  return at.from + (pixel / at.width) * (at.to - at.from);
}

/** The middle of a type's row; undefined if it has none. */
export function y(at: Layout, type: number): number | undefined {
  const row = at.rowOf.get(type);
  return row === undefined ? undefined : (row + 0.5) * at.row - at.scroll;
}

export interface Point { x: number; y: number; event: number }

/** The visible corners of a polyline, relative times being those of the data plus `shift`. */
export function points(at: Layout, line: Line, shift: number): Point[] {
  const found: Point[] = [];
  for (let i = 0; i < line.t.length; i++) {
    const row = y(at, line.y[i]!);
    if (row !== undefined) {
      found.push({ x: x(at, line.t[i]! + shift), y: row, event: i });
    }
  }
  return found;
}
