// Questions that the console cannot answer now: it says when it should be asked again.
import { Problem } from "./api";

/** Asks until there is an answer or another error; calls back with the reason before each wait. */
export async function patiently<T>(load: (signal: AbortSignal) => Promise<T>, signal: AbortSignal, waits: (why: string) => void): Promise<T> {
  for (;;) {
    try {
      return await load(signal);
    } catch (error) {
      if (!(error instanceof Problem) || error.retryS === null || signal.aborted) {
        throw error;
      }
      waits(error.message);
      await pause(error.retryS * 1000, signal);
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("no longer wanted", "AbortError"));
    }, { once: true });
  });
}
