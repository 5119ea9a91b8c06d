// Follows the console's state. The browser's EventSource gives up after some errors, so it is opened again, less and less often.
import { BASE, type Status } from "./api";

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

/** Calls back with each state, and with null when the connection is lost. Returns what ends it. */
export function follow(changed: (status: Status | null) => void): () => void {
  let source: EventSource | null = null;
  let pause = FIRST_PAUSE_MS;
  let timer = 0;
  const open = () => {
    source = new EventSource(`${BASE}/stream`);
    source.addEventListener("status", (event) => {
      pause = FIRST_PAUSE_MS;
      changed(JSON.parse((event as MessageEvent<string>).data));
    });
    source.onerror = () => {
      source?.close();
      changed(null);
      timer = window.setTimeout(open, pause);
      pause = Math.min(LONGEST_PAUSE_MS, pause * 2);
    };
  };
  open();
  return () => {
    source?.close();
    window.clearTimeout(timer);
  };
}
