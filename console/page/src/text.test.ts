import assert from "node:assert/strict";
import { test } from "node:test";
import { short, shown } from "./text";

test("control characters and those that turn the direction of writing are visible", () => {
  assert.equal(shown("a\u202eb\u0000c\n\u2066"), "a\\u202eb\\u0000c\\u000a\\u2066");
  assert.equal(shown("\ud800x"), "\\ud800x");
  assert.equal(shown("<b>😀ü</b>"), "<b>😀ü</b>");
});

test("towers of marks are cut", () => {
  assert.equal(shown(`Z${"\u0351\u0300\u0334".repeat(40)}!`), "Z\u0351\u0300\u0334…!");
  assert.equal(shown("ệ ก็"), "ệ ก็");
});

test("long texts are cut and say how long they are", () => {
  assert.equal(shown("x".repeat(65_536), 5), "xxxxx… (65,536 characters)");
});

test("counts get a unit", () => {
  assert.equal(short(0), "0");
  assert.equal(short(1234), "1.23 k");
  assert.equal(short(180_000_000), "180 M");
});
