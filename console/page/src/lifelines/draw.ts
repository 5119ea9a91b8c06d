// Draws lifelines: per row how many events there are, above them the paths of objects.
import type { Line, Lines } from "../api";
import type { Colour } from "../link";
import type { Palette } from "../palette";
import { type Tick } from "../time";
import { type Layout, points, x, y } from "./layout";
import type { Pen } from "./pen";

export interface Picture {
  layout: Layout;
  data: Lines | null;
  /** What to add to the data's times to get times since the origin. */
  shift: number;
  ticks: Tick[];
  colour: Colour;
  palette: Palette;
  selected: number | null;
  hovered: { line: Line; event: number } | null;
  brush: { from: number; to: number } | null;
}

export function colourOf(picture: Picture, line: Line): string {
  const { palette } = picture;
  return picture.colour === "outcome" ? palette.outcomes[line.s]!
    : palette.series[(picture.colour === "program" ? line.p : line.h) % palette.series.length]!;
}

export function draw(pen: Pen, picture: Picture): void {
  const { layout, palette } = picture;
  for (const tick of picture.ticks) {
    pen.box(x(layout, tick.at), 0, 1, layout.height, palette.grid, tick.major ? 0.9 : 0.45);
  }
  const firstRow = Math.floor(layout.scroll / layout.row);
  const lastRow = Math.min(layout.rows.length - 1, Math.ceil((layout.scroll + layout.height) / layout.row));
  for (let row = firstRow; row <= lastRow; row++) {
    pen.box(0, (row + 0.5) * layout.row - layout.scroll, layout.width, 1, palette.grid, 0.7);
  }
  if (picture.data) {
    drawDensity(pen, picture, picture.data);
    drawLines(pen, picture, picture.data);
  }
  if (picture.brush) {
    const left = x(layout, Math.min(picture.brush.from, picture.brush.to));
    pen.box(left, 0, x(layout, Math.max(picture.brush.from, picture.brush.to)) - left, layout.height, palette.accent, 0.18);
  }
}

/** A mark's height grows with the logarithm of the number of events in it: a single one is visible beside thousands. */
function drawDensity(pen: Pen, picture: Picture, data: Lines): void {
  const { layout, palette } = picture;
  const width = (data.to - data.from + 1) / data.bins;
  const most = Math.log1p(data.density.reduce((most, row) => row.n.reduce((a, b) => Math.max(a, b), most), 1));
  for (const row of data.density) {
    const middle = y(layout, row.type);
    if (middle === undefined || middle < -layout.row || middle > layout.height + layout.row) {
      continue;
    }
    row.n.forEach((n, bin) => {
      if (n > 0) {
        const left = x(layout, picture.shift + bin * width);
        const right = x(layout, picture.shift + (bin + 1) * width);
        if (right >= 0 && left <= layout.width) {
          const height = Math.max(2, (Math.log1p(n) / most) * layout.row * 0.5);
          pen.box(left, middle - height / 2, Math.max(1, right - left - 0.5), height, palette.density, 0.5);
        }
      }
    });
  }
}

function drawLines(pen: Pen, picture: Picture, data: Lines): void {
  const { layout, palette } = picture;
  const alpha = Math.max(0.25, Math.min(0.9, 150 / Math.max(1, data.lines.length)));
  const dots = data.lines.length < 150;
  let selected: Line | null = null;
  for (const line of data.lines) {
    if (line.o === picture.selected) {
      selected = line;
      continue;
    }
    const corners = points(layout, line, picture.shift);
    if (!visible(layout, corners)) {
      continue;
    }
    pen.line(corners, colourOf(picture, line), 1.25, picture.selected === null ? alpha : alpha * 0.5);
    if (dots) {
      corners.forEach((corner) => pen.dot(corner.x, corner.y, 2, colourOf(picture, line)));
    }
  }
  for (const line of [picture.hovered?.line, selected]) {
    if (line) {
      const corners = points(layout, line, picture.shift);
      pen.line(corners, palette.halo, 6, 0.8);
      pen.line(corners, line === selected ? palette.selected : colourOf(picture, line), 2.5, 1);
      corners.forEach((corner) => pen.dot(corner.x, corner.y, line === picture.hovered?.line && corner.event === picture.hovered.event ? 5 : 3, palette.selected));
    }
  }
}

function visible(layout: Layout, corners: { x: number }[]): boolean {
  return corners.length > 0 && corners[0]!.x <= layout.width && corners[corners.length - 1]!.x >= 0;
}
