import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, encode, type Link, START } from "./link";

test("a link reproduces every part of the view", () => {
  const link: Link = {
    tab: "ask", from: "1", to: "20", follow: true, colour: "host", order: ["b&=#", "a"], types: "disk", program: "*x", host: "ü", session: "a b",
    object: "<script>", a: "disk.read.start", b: "disk.read.end", before: "3-4", load: ["a/b"], sql: "SELECT '\u202e' -- #&\n",
  };
  assert.deepEqual(decode(`#${encode(link)}`), link);
});

test("what is as at the start is not in the link", () => {
  assert.equal(encode(START), "");
  assert.deepEqual(decode(""), START);
});

test("a link with anything in it is read without an error", () => {
  assert.deepEqual(decode("#tab=nonsense&from=abc&to=-1&colour=red&before=1&follow=maybe&unknown=1&%ff"), START);
});
