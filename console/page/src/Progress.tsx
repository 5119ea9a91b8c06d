// What stands where an answer is not there: that it is loading, why it is awaited, or what went wrong.
import type { Loaded } from "./hooks";
import { shown } from "./text";

export function Progress({ of: { data, error, loading, waiting } }: { of: Loaded<unknown> }) {
  if (error !== null) {
    return <p class="error" role="alert">{shown(error, 1000)}</p>;
  }
  if (waiting !== null) {
    return <p class="hint" role="status">Waiting: {shown(waiting, 1000)}. The page asks again by itself.</p>;
  }
  return loading && data === null ? <p class="hint" role="status">Loading…</p> : null;
}
