// What the address shows after #, so that a link reproduces the view.

export type Tab = "lifelines" | "sessions" | "overview" | "ask";
export type Colour = "program" | "host" | "outcome";

export interface Link {
  tab: Tab;
  /** Nanoseconds since 1970; null: all there is. */
  from: string | null;
  to: string | null;
  follow: boolean;
  colour: Colour;
  /** Names of types in the order of their rows, if somebody changed it. */
  order: string[];
  /** Only types whose name contains this. */
  types: string;
  program: string;
  host: string;
  /** ID of the session to which the view is limited; null: everything. */
  session: string | null;
  /** Id of the selected object. */
  object: string | null;
  /** The stages between which the time is measured. */
  a: string | null;
  b: string | null;
  /** A span to compare with, "from-to". */
  before: string | null;
  /** Load lines: type and field, joined by "/". */
  load: string[];
  sql: string;
}

export const START: Link = {
  tab: "lifelines", from: null, to: null, follow: false, colour: "outcome", order: [], types: "", program: "", host: "", session: null,
  object: null, a: null, b: null, before: null, load: [], sql: "",
};

const NUMBER = /^[0-9]{1,19}$/;

export function encode(link: Link): string {
  const parameters = new URLSearchParams();
  for (const [name, now] of Object.entries(link) as [keyof Link, unknown][]) {
    if (JSON.stringify(now) === JSON.stringify(START[name])) {
      continue;
    }
    if (Array.isArray(now)) {
      now.forEach((one) => parameters.append(name, one));
    } else {
      parameters.set(name, String(now));
    }
  }
  return parameters.toString();
}

/** Reads a link, in which anything may stand; what is not understood is left out. */
export function decode(hash: string): Link {
  const parameters = new URLSearchParams(hash.replace(/^#/, ""));
  const text = (name: string) => parameters.get(name);
  const number = (name: string) => (NUMBER.test(text(name) ?? "") ? text(name) : null);
  const choice = <T extends string>(name: string, all: readonly T[], otherwise: T) =>
    all.find((one) => one === text(name)) ?? otherwise;
  const before = text("before");
  return {
    tab: choice("tab", ["lifelines", "sessions", "overview", "ask"] as const, START.tab),
    from: number("from"),
    to: number("to"),
    follow: text("follow") === "true",
    colour: choice("colour", ["program", "host", "outcome"] as const, START.colour),
    order: parameters.getAll("order"),
    types: text("types") ?? "",
    program: text("program") ?? "",
    host: text("host") ?? "",
    session: text("session"),
    object: text("object"),
    a: text("a"),
    b: text("b"),
    before: before !== null && /^[0-9]{1,19}-[0-9]{1,19}$/.test(before) ? before : null,
    load: parameters.getAll("load"),
    sql: text("sql") ?? "",
  };
}
