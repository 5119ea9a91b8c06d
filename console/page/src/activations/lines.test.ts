import assert from "node:assert/strict";
import { test } from "node:test";
import { inFull, timeLeft } from "./lines";

test("both ends of an operation are one line, with the filters that a line can express", () => {
  assert.deepEqual(inFull(["disk.read.start", "disk.read.end"], "remote-*", ""), ["disk.read.* full program=remote-*"]);
  assert.deepEqual(inFull(["disk.read.end", "net.send"], "", "*lab*"), ["disk.read.* full", "net.send full"]);
  assert.deepEqual(inFull([null, null], "", ""), []);
  assert.deepEqual(inFull(["a full b"], "", ""), [], "a name with a blank cannot be selected");
});

test("a time left has two units at most", () => {
  assert.equal(timeLeft(250_100), "4 min 11 s");
  assert.equal(timeLeft(3_600_000), "1 h 0 min");
  assert.equal(timeLeft(900), "1 s");
  assert.equal(timeLeft(-5), "0 s");
});
