// What the mouse points at.
import type { Line } from "../api";
import { type Layout, points } from "./layout";

export interface Hit { line: Line; event: number }

/** The event within reach that is nearest; else the nearest segment, of which the later event counts. */
export function hit(at: Layout, lines: Line[], shift: number, x: number, y: number, reach = 8): Hit | null {
  let best: Hit | null = null;
  let nearest = reach * reach;
  let bestSegment: Hit | null = null;
  let nearestSegment = reach * reach;
  for (const line of lines) {
    const corners = points(at, line, shift);
    for (let i = 0; i < corners.length; i++) {
      const corner = corners[i]!;
      const distance = (corner.x - x) ** 2 + (corner.y - y) ** 2;
      if (distance < nearest) {
        nearest = distance;
        best = { line, event: corner.event };
      }
      const before = corners[i - 1];
      if (before) {
        const toSegment = segment(before.x, before.y, corner.x, corner.y, x, y);
        if (toSegment < nearestSegment) {
          nearestSegment = toSegment;
          bestSegment = { line, event: corner.event };
        }
      }
    }
  }
  return best ?? bestSegment;
}

/** Square of the distance between a segment and a point. */
function segment(x1: number, y1: number, x2: number, y2: number, x: number, y: number): number {
  const length = (x2 - x1) ** 2 + (y2 - y1) ** 2;
  const part = length === 0 ? 0 : Math.max(0, Math.min(1, ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / length));
  return (x1 + part * (x2 - x1) - x) ** 2 + (y1 + part * (y2 - y1) - y) ** 2;
}
