import assert from "node:assert/strict";
import { test } from "node:test";
import { absolute, duration, tickStep, ticks } from "./time";

test("a duration has three digits and the largest fitting unit", () => {
  assert.equal(duration(0), "0 s");
  assert.equal(duration(1), "1 ns");
  assert.equal(duration(1234), "1.23 µs");
  assert.equal(duration(999_999), "1 ms");
  assert.equal(duration(59.96e9), "60 s");
  assert.equal(duration(90e9), "1.5 min");
  assert.equal(duration(-5e6), "-5 ms");
});

test("a time shows all nanoseconds", () => {
  assert.equal(absolute(1_795_599_577_842_777_374n), "2026-11-25 09:39:37.842777374 UTC");
  assert.equal(absolute(-1n), "1969-12-31 23:59:59.999999999 UTC");
});

test("ticks are round, inside the span and not too many at every scale", () => {
  for (let span = 100; span < 1e17; span *= 1.7) {
    const step = tickStep(span, 8);
    assert.ok(span / step <= 8.001, `${span}: ${step}`);
    const found = ticks(1_795_599_577_842_777_374n, -span / 3, (2 * span) / 3, 8);
    assert.ok(found.length <= 10 && found.length >= 2, `${span}: ${found.length}`);
    for (const tick of found) {
      assert.ok(tick.at >= -span / 3 && tick.at <= (2 * span) / 3);
    }
    assert.equal(new Set(found.map((tick) => tick.at)).size, found.length);
  }
});

test("ticks below a second say what they add to the full second", () => {
  const found = ticks(10_000_000_000n, 0, 400, 4);
  assert.deepEqual(found.map((tick) => tick.label), ["00:00:10", "+100 ns", "+200 ns", "+300 ns", "+400 ns"]);
});

test("days begin with their date", () => {
  const found = ticks(1_795_564_800_000_000_000n, 0, 2 * 86_400e9, 4);
  assert.deepEqual(found.map((tick) => tick.label), ["2026-11-25", "12:00", "2026-11-26", "12:00", "2026-11-27"]);
});
