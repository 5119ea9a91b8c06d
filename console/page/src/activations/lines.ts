// Lines of schemas/ACTIVATION.md for what is selected in the picture.

/** What both ends of an operation share: `disk.read.*` for `disk.read.end`. */
function operation(type: string): string {
  return type.replace(/\.(start|end)$/, ".*");
}

/** Lines that show these stages in full, of the programs and hosts that a filter lets through where a line can say so. */
export function inFull(stages: (string | null)[], program: string, host: string): string[] {
  const option = (name: string, filter: string) => (/^[^\s*]+\*?$/.test(filter) ? ` ${name}=${filter}` : "");
  const patterns = new Set(stages.filter((one): one is string => one !== null && !/\s/.test(one)).map(operation));
  return [...patterns].map((pattern) => `${pattern} full${option("program", program)}${option("host", host)}`);
}

/** "4 min 10 s" */
export function timeLeft(ms: number): string {
  const s = Math.max(0, Math.ceil(ms / 1000));
  const parts: [number, string][] = [[Math.floor(s / 3600), "h"], [Math.floor(s / 60) % 60, "min"], [s % 60, "s"]];
  const first = parts.findIndex(([n]) => n > 0);
  return first < 0 ? "0 s" : parts.slice(first, first + 2).map(([n, unit]) => `${n} ${unit}`).join(" ");
}
