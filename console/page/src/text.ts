// Names, ids and values come from programs that may be hostile: they are shown, never interpreted.

const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]/g;
/** Marks above and below a letter: a tower of them reaches into other cells. */
const TOWERS = /(\p{M}{3})\p{M}+/gu;
const PAIRS = /[\ud800-\udbff][\udc00-\udfff]|[\u0000-\uffff]/g;

/** Makes control characters visible, among them those that turn the direction of writing, and cuts long texts and towers of marks. */
export function shown(text: string, longest = 200): string {
  const cut = text.length > longest ? text.slice(0, longest) : text;
  const visible = cut.replace(PAIRS, (part) =>
    part.length === 2 ? part : part.replace(INVISIBLE, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`)).replace(TOWERS, "$1…");
  return text.length > longest ? `${visible}… (${text.length.toLocaleString("en")} characters)` : visible;
}

export function value(any: unknown, longest = 200): string {
  return any === null || any === undefined ? "" : shown(typeof any === "string" ? any : JSON.stringify(any), longest);
}

export function count(n: number): string {
  return n.toLocaleString("en");
}

/** A count in few characters: 1.2 M. */
export function short(n: number): string {
  for (const [limit, unit] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]] as const) {
    if (Math.abs(n) >= limit) {
      return `${Number((n / limit).toPrecision(3))} ${unit}`;
    }
  }
  return String(Number(n.toPrecision(3)));
}
