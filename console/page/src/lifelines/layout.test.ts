import assert from "node:assert/strict";
import { test } from "node:test";
import type { Line } from "../api";
import { hit } from "./hit";
import { layout, points, timeAt, x } from "./layout";
import { moved, zoomed } from "./Chart";

const line: Line = { o: 1, id: "a", p: 0, h: 0, s: 0, d: 100, t: [0, 50, 100], y: [7, 8, 9] };

test("events lie in the rows of their types, and times are found again", () => {
  const at = layout([7, 9], 200, 100, 0, 0, 100);
  assert.deepEqual(points(at, line, 0), [{ x: 0, y: 25, event: 0 }, { x: 200, y: 75, event: 2 }]);
  assert.equal(timeAt(at, x(at, 42)), 42);
});

test("rows keep a height that can be read; the rest is scrolled to, no further than the last row", () => {
  const at = layout(Array.from({ length: 10_000 }, (_, i) => i), 200, 100, 1e9, 0, 100);
  assert.equal(at.row, 20);
  assert.equal(at.scroll, 10_000 * 20 - 100);
});

test("the mouse finds the nearest event, or the line", () => {
  const at = layout([7, 8, 9], 200, 90, 0, 0, 100);
  assert.deepEqual(hit(at, [line], 0, 101, 46), { line, event: 1 });
  assert.deepEqual(hit(at, [line], 0, 50, 30), { line, event: 1 });
  assert.equal(hit(at, [line], 0, 190, 10), null);
});

test("zooming keeps the time under the mouse, and moving keeps the span", () => {
  assert.deepEqual(zoomed({ from: 0, to: 1000 }, 0.5, 250), { from: 125, to: 625 });
  assert.equal(zoomed({ from: 0, to: 1000 }, 1e-9, 0).to, 100);
  assert.deepEqual(moved({ from: 0, to: 10 }, 5), { from: 5, to: 15 });
});
