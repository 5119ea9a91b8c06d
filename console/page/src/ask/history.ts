// Queries that were run, the newest first, on this browser alone.

const KEY = "lifeline.sql";
const MOST = 50;

export function past(): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(stored) ? stored.filter((one) => typeof one === "string") : [];
  } catch {
    return []; // storage may be forbidden, or hold something else
  }
}

export function remember(sql: string): void {
  try {
    localStorage.setItem(KEY, JSON.stringify([sql, ...past().filter((one) => one !== sql)].slice(0, MOST)));
  } catch {
    // without storage there is no history
  }
}
