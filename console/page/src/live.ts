// Follows the console's state. The browser's EventSource gives up after some errors, so it is opened again, less and less often.
import { BASE, get, Problem, type Status } from "./api";

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
const NOT_SIGNED_IN = 401;

/**
 * Calls back with each state, and with null when the connection is lost. If the console wants a login it says why, and
 * following ends. Returns what ends it.
 */
export function follow(changed: (status: Status | null) => void, signedOut: (why: string) => void): () => void {
  let source: EventSource | null = null;
  let pause = FIRST_PAUSE_MS;
  let timer = 0;
  let ended = false;
  const end = () => {
    ended = true;
    source?.close();
    window.clearTimeout(timer);
  };
  const leave = (why: string) => {
    if (!ended) {
      end();
      signedOut(why);
    }
  };
  const lost = () => {
    if (!ended) {
      changed(null);
      timer = window.setTimeout(open, pause);
      pause = Math.min(LONGEST_PAUSE_MS, pause * 2);
    }
  };
  const open = () => {
    source = new EventSource(`${BASE}/stream`);
    source.addEventListener("status", (event) => {
      pause = FIRST_PAUSE_MS;
      changed(JSON.parse((event as MessageEvent<string>).data));
    });
    source.addEventListener("signed-out", (event) => leave(JSON.parse((event as MessageEvent<string>).data).detail));
    source.onerror = () => {
      source?.close();
      // An EventSource does not say with what status it failed.
      get("/status").then(lost, (error: Error) => {
        if (error instanceof Problem && error.status === NOT_SIGNED_IN) {
          leave(error.message);
        } else {
          lost();
        }
      });
    };
  };
  open();
  return end;
}
