// Completion of names in SQL.
import type { Schema } from "../api";

export interface Completions { start: number; words: string[] }

const MOST = 12;

const quoted = (name: string) => (/^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`);

/** What the word before the cursor may become: tables, and columns of those tables that the query names, first of all. */
export function complete(schema: Schema, sql: string, cursor: number): Completions {
  const before = sql.slice(0, cursor);
  const word = /"?[\w.]*$/.exec(before)?.[0] ?? "";
  const wanted = word.replace('"', "").toLowerCase();
  const named = schema.tables.filter((table) => sql.includes(quoted(table.name)));
  const columns = (named.length ? named : schema.tables).flatMap((table) => table.columns.map((column) => quoted(column.name)));
  const tables = schema.tables.map((table) => quoted(table.name));
  const names = /\b(from|join)\s+"?[\w.]*$/i.test(before) ? tables : [...columns, ...tables];
  const words = [...new Set(names)].filter((name) => name.replace('"', "").toLowerCase().startsWith(wanted) && name !== word);
  return { start: cursor - word.length, words: words.slice(0, MOST) };
}
