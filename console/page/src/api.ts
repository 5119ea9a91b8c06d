// The service's API as the page sees it. Times are nanoseconds since 1970: as decimal text, since they exceed what a number
// holds exactly, or relative to a base.

export interface Status {
  version: string;
  /** Until when the login lasts: null if none is needed. `session`: signed in on this page. */
  user: { name: string; role: "view" | "activate" | "admin"; onBehalfOf: string | null; until: string | null; session: boolean };
  archive: { location: string | null; state: "ok" | "none" | "error"; error: string | null };
  broker: { kind: string | null; url: string | null; state: "connected" | "disconnected" | "none"; error: string | null };
  index: {
    events: number; objects: number; types: number; limit: number; loading: boolean; done: number;
    fromNs: string | null; toNs: string | null; skipped: number;
  };
  now: string;
}

export interface TypeRow { type: number; name: string; level: string; events: number }
/** Of the selected emitters; the span is that of their events. */
export interface Types { types: TypeRow[]; order: number[]; fromNs: string | null; toNs: string | null }

/** A polyline: times `t` relative to the base and types `y` of an object's events. */
export interface Line { o: number; id: string; p: number; h: number; s: number; d: number; t: number[]; y: number[] }

export interface Lines {
  base: string; from: number; to: number; events: number; objects: number; shown: number; reduced: boolean;
  programs: string[]; hosts: string[]; outcomes: string[];
  lines: Line[]; density: { type: number; n: number[] }[]; bins: number;
}

export interface ObjectEvent {
  t: string; type: number; name: string; level: string; program: string; host: string; pid: number;
  sinceFirst: number; sincePrevious: number; fields: Record<string, unknown> | null;
}
export interface ObjectEvents { o: number; id: string; events: ObjectEvent[] }

/** Steps from type `a` to type `b`; `slowest` is the object with the slowest one, `waiting` means between two stages. */
export interface StepKind { a: number; b: number; waiting: boolean; count: number; totalNs: number; maxNs: number; slowest: number; slowestId: string }

export interface SlowObject { o: number; id: string; program: string; host: string; start: string; ns: number }
export interface Share { what: string; value: string; slow: number; all: number }
export interface Slowest { objects: SlowObject[]; count: number; shares: Share[] }

export interface SpanOfDurations {
  from: string; to: string; count: number; min: number; p50: number; p90: number; p99: number; max: number; mean: number;
  counts: number[];
}
export interface Distribution { a: number; b: number; spans: SpanOfDurations[]; edges: number[] }
export interface Heat { base: string; from: number; to: number; bins: number; edges: number[]; counts: number[][] }

export interface SeriesName { type: string; field: string; unit: string }
export interface Series { base: string; t: number[]; min: number[]; mean: number[]; max: number[]; count: number[] }

export interface Column { name: string; type: string }
export interface SqlResult { columns: Column[]; rows: unknown[][]; truncated: boolean; ms: number }
export interface Schema { tables: { name: string; columns: Column[] }[] }

/** Share of the time for which a stage is at work; null if unknown. */
export interface Stage { name: string; count: number; bytes: number; meanNs: number; p99Ns: number; working: number | null }
export interface Report {
  bottleneck: string; stage: string | null; stages: Stage[];
  balance: { emitted: number; archived: number; inFlight: number; dropped: number; missing: number; duplicated: number; balanced: boolean };
}
export interface Account {
  incarnation: string; program: string; host: string; pid: number; route: string; ended: boolean;
  emitted: string; archived: string; dropped: string; missing: string; spooled: string; reasons: Record<string, string>;
}
export interface Ledger { rows: Account[] }

export interface Session {
  session: string; parent?: string | null; name?: string | null; from?: string | null; to?: string | null;
  ended: boolean; ok?: boolean | null; hosts?: string | null; programs?: string | null; events: number;
}
export interface Sessions { sessions: Session[]; complete: boolean }
/** `via`: "session" for events of its programs, "host" for samples of its hosts meanwhile. */
export interface SessionContent {
  session: Session; children: Session[]; types: { type: string; via: "session" | "host"; host: string; events: number }[];
  bottleneck: string; stage?: string | null;
}

export interface Emitter {
  incarnation: string; program: string; host: string; pid: number; state: "running" | "silent" | "ended" | "recovered";
  firstMs: number; lastMs: number; eventsPerSecond: number; types: number; emitted: string; drops: Record<string, string>;
  sampledOut: string; belowThreshold: string; folded: string; spooled: string;
  /** The least time from its clock to the broker's; negative: it is ahead. */
  clockMs: number | null; clockAhead: boolean; clockErrorNs: number; clockUncertain: boolean;
  inForce: Record<string, string>;
}
/** `ahead`: emitters whose clocks are ahead, of those with such a program and host. */
export interface Emitters { count: number; ahead: number; eventsPerSecond: number; rows: Emitter[] }

export interface Alert {
  alert: string | null; state: string | null; group: string | null; subject: string | null; reason: string | null;
  since: string | null; at: string | null; evidence: Record<string, unknown>;
}
/** `rows`: active ones, of which there may be more, then cleared ones if they were asked for. */
export interface Alerts { active: number; cleared: number; unreadable: number; rows: Alert[] }

/** Steps from type `a` to type `b`: percentiles for each `part` of the span that has some. */
export interface Summary { a: number; b: number; count: number; totalNs: number; maxNs: number; part: number[]; p50: number[]; p90: number[]; p99: number[] }
export interface Summaries { parts: number; oneIn: number; rows: Summary[] }

export interface Member { program: string; host: string; pid: number; reason: string | null }
export interface Activation {
  id: string; line: string; state: "running" | "over" | "illegal"; remainingMs: number | null; why: string | null;
  resolution: string | null; by: string | null; following: number; refusing: number; silent: number; refusals: Member[]; unanswered: Member[];
}
/** What switching on would bring; `text` says the rest. */
export interface Cost { known: boolean; eventsPerSecond: number; bytesPerSecond: number; text: string; confirm: boolean }

export const BASE = "api/v1";
const UNAVAILABLE = 503;

/** An answer that is an error; its message says the thing, the cause and the remedy. */
export class Problem extends Error {
  /** @param retryS when the console asks to be asked again; null if that would not help */
  constructor(message: string, readonly status: number, readonly body: { cost?: Cost } = {}, readonly retryS: number | null = null) {
    super(message);
  }
}

type Query = Record<string, string | number | null | undefined>;

function address(path: string, query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") {
      parameters.set(name, String(value));
    }
  }
  return `${BASE}${path}${parameters.size ? `?${parameters}` : ""}`;
}

async function answer(response: Response): Promise<Response> {
  if (!response.ok) {
    let body: { detail?: string; cost?: Cost } = {};
    try {
      body = await response.json();
    } catch {
      // not a problem document: the status has to do
    }
    const retryS = Number(response.headers.get("Retry-After"));
    throw new Problem(body.detail ?? `the console answered ${response.status}`, response.status, body, response.status === UNAVAILABLE && retryS > 0 ? retryS : null);
  }
  return response;
}

async function ask(input: string, init?: RequestInit): Promise<Response> {
  try {
    return await answer(await fetch(input, init));
  } catch (error) {
    if (error instanceof TypeError) {
      throw new Problem("the console does not answer: is it still running?", 0);
    }
    throw error;
  }
}

export async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  return (await ask(address(path, query), { signal: signal ?? null })).json();
}

const JSON_BODY = { "Content-Type": "application/json" };

export async function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return (await ask(`${BASE}${path}`, { method: "POST", headers: JSON_BODY, body: JSON.stringify(body), signal: signal ?? null })).json();
}

export async function remove(path: string, query: Query = {}): Promise<void> {
  await ask(address(path, query), { method: "DELETE" });
}

export async function signIn(token: string): Promise<void> {
  await ask(`${BASE}/session`, { method: "POST", headers: JSON_BODY, body: JSON.stringify({ token }) });
}

export async function signOut(): Promise<void> {
  await ask(`${BASE}/session`, { method: "DELETE" });
}

export async function runSql(sql: string, limit: number, signal?: AbortSignal): Promise<SqlResult> {
  return post("/sql", { sql, limit }, signal);
}

export async function sqlAsCsv(sql: string): Promise<Blob> {
  const body = JSON.stringify({ sql, limit: 10_000 });
  return (await ask(`${BASE}/sql`, { method: "POST", body, headers: { ...JSON_BODY, Accept: "text/csv" } })).blob();
}
