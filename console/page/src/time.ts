// Times on the page are numbers: nanoseconds since an origin, the first event that was known. They are exact for 104 days.

const UNITS: [number, string][] = [[86_400e9, "d"], [3600e9, "h"], [60e9, "min"], [1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

/** A duration with three digits: 1.23 ms. */
export function duration(ns: number): string {
  const size = Math.abs(ns);
  if (size === 0) {
    return "0 s";
  }
  const [unit, name] = UNITS.find(([limit]) => size >= limit * 0.9995) ?? [1, "ns"];
  return `${Number((ns / unit).toPrecision(3))} ${name}`;
}

/** What is left of a time since the last multiple of `unit`, also before 1970. */
function rest(ns: bigint, unit: bigint): bigint {
  return ((ns % unit) + unit) % unit;
}

function date(ns: bigint): Date {
  return new Date(Number((ns - rest(ns, 1_000_000n)) / 1_000_000n));
}

/** Date and time in UTC with nanoseconds. */
export function absolute(ns: bigint): string {
  return `${date(ns).toISOString().slice(0, 19).replace("T", " ")}.${String(rest(ns, 1_000_000_000n)).padStart(9, "0")} UTC`;
}

/** Distance of ticks of which about `most` fit into the span: 1, 2 or 5 times a power of ten; from seconds on, parts of minutes and hours. */
export function tickStep(span: number, most: number): number {
  const wanted = span / Math.max(1, most);
  const large = [1e9, 2e9, 5e9, 10e9, 15e9, 30e9, 60e9, 120e9, 300e9, 600e9, 900e9, 1800e9, 3600e9, 7200e9, 10_800e9, 21_600e9, 43_200e9, 86_400e9];
  if (wanted > 0.5e9) {
    return large.find((step) => step >= wanted) ?? Math.ceil(wanted / 86_400e9) * 86_400e9;
  }
  const power = 10 ** Math.floor(Math.log10(Math.max(1, wanted)));
  return Math.max(1, [1, 2, 5, 10].map((part) => part * power).find((step) => step >= wanted) ?? 10 * power);
}

/** The time of day at a tick, as precise as the distance of ticks needs; the date where a day begins. */
function clock(ns: bigint, step: number): string {
  const text = date(ns).toISOString();
  if (rest(ns, 86_400_000_000_000n) === 0n) {
    return text.slice(0, text.indexOf("T"));
  }
  return text.slice(text.indexOf("T") + 1).slice(0, step >= 60e9 ? 5 : 8);
}

export interface Tick { at: number; label: string; major: boolean }

/**
 * Ticks of a span. Below a second a label is what it adds to the last full second before it, since nobody reads nine digits:
 * the seconds themselves are major ticks.
 */
export function ticks(origin: bigint, from: number, to: number, most: number): Tick[] {
  const step = tickStep(to - from, most);
  const stepNs = BigInt(Math.round(step));
  const start = origin + BigInt(Math.floor(from));
  let at = start - rest(start, stepNs);
  const found: Tick[] = [];
  for (let i = 0; i < 200; i++, at += stepNs) {
    const relative = Number(at - origin);
    if (relative > to) {
      break;
    }
    if (relative < from) {
      continue;
    }
    const part = Number(rest(at, 1_000_000_000n));
    const major = step >= 1e9 || part === 0;
    found.push({ at: relative, label: major ? clock(at, step) : `+${exact(part)}`, major });
  }
  return found;
}

/** A part of a second, all its digits. */
function exact(ns: number): string {
  const [unit, name] = ns % 1e6 === 0 ? [1e6, "ms"] as const : ns % 1e3 === 0 && ns < 1e6 ? [1e3, "µs"] as const : ns < 1e3 ? [1, "ns"] as const : [1e6, "ms"] as const;
  return `${Number((ns / unit).toFixed(6))} ${name}`;
}
