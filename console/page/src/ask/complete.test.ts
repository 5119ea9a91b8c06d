import assert from "node:assert/strict";
import { test } from "node:test";
import { complete } from "./complete";

const schema = { tables: [{ name: "events", columns: [{ name: "ts", type: "" }, { name: "type", type: "" }] }, { name: "disk.read.end", columns: [{ name: "nbytes", type: "" }] }] };

test("after FROM only tables are offered, quoted where they must be", () => {
  assert.deepEqual(complete(schema, "select * from ", 14).words, ["events", '"disk.read.end"']);
  assert.deepEqual(complete(schema, 'select * from "di', 17), { start: 14, words: ['"disk.read.end"'] });
});

test("columns of the tables that the query names come first", () => {
  assert.deepEqual(complete(schema, "select t from events", 8).words, ["ts", "type"]);
  assert.deepEqual(complete(schema, 'select n from "disk.read.end"', 8).words, ["nbytes"]);
});
