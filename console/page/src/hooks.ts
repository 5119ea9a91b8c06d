import { useEffect, useRef, useState } from "preact/hooks";
import { patiently } from "./retry";

/** The size of an element, kept up to date. */
export function useSize<T extends HTMLElement>(): [{ current: T | null }, { width: number; height: number }] {
  const element = useRef<T>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  useEffect(() => {
    const watched = element.current;
    if (!watched) {
      return undefined;
    }
    const observer = new ResizeObserver(() => setSize({ width: watched.clientWidth, height: watched.clientHeight }));
    observer.observe(watched);
    return () => observer.disconnect();
  }, []);
  return [element, size];
}

/** `loading`: the answer to the newest question is not there yet; `waiting`: why it will be asked again. */
export interface Loaded<T> { data: T | null; error: string | null; loading: boolean; waiting: string | null }

/**
 * Asks the console whenever `key` changes, after a pause in which no further change comes; null asks nothing. What was loaded
 * before stays until the new answer is there, and an answer that is no longer wanted is given up. Panels wait longer than the
 * picture, the first time, too: their questions would compete with its own. A new `version` asks the same question again, but
 * only after the answer: what takes long would never be answered while events arrive, and the console would work for nobody.
 */
export function useAnswer<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>, pauseMs = 30, version: string | number | null = null): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, "loading"> & { key: string | null; version: typeof version }>(
    { key: null, version: null, data: null, error: null, waiting: null });
  const newest = useRef({ load, version, changed: () => undefined as void });
  newest.current.load = load;
  newest.current.version = version;
  useEffect(() => {
    if (key === null) {
      setState({ key, version: null, data: null, error: null, waiting: null });
      return undefined;
    }
    const abort = new AbortController();
    let timer = 0;
    let running = false;
    const ask = async () => {
      running = true;
      const asked = newest.current.version;
      const begun = performance.now();
      const ended = (answer: (before: T | null) => { data: T | null; error: string | null }) => {
        if (!abort.signal.aborted) {
          setState((before) => ({ key, version: asked, waiting: null, ...answer(before.data) }));
        }
      };
      try {
        const data = await patiently((signal) => newest.current.load(signal), abort.signal, (waiting) => setState((before) => ({ ...before, error: null, waiting })));
        ended(() => ({ data, error: null }));
      } catch (error) {
        ended((before) => ({ data: before, error: (error as Error).message }));
      }
      running = false;
      if (newest.current.version !== asked) {
        askIn(Math.max(pauseMs, performance.now() - begun));
      }
    };
    const askIn = (ms: number) => {
      window.clearTimeout(timer);
      timer = window.setTimeout(() => abort.signal.aborted || void ask(), ms);
    };
    newest.current.changed = () => running || askIn(pauseMs);
    askIn(pauseMs);
    return () => {
      abort.abort();
      window.clearTimeout(timer);
      newest.current.changed = () => undefined;
    };
  }, [key]);
  useEffect(() => newest.current.changed(), [version]);
  return { data: state.data, error: state.error, waiting: state.waiting, loading: state.key !== key || (key !== null && state.version !== version) };
}

/** A number that changes each so many milliseconds, while the page can be seen. */
export function useTick(everyMs: number): number {
  const [tick, setTick] = useState(0);
  useEffect(() => {
    const timer = window.setInterval(() => document.hidden || setTick((before) => before + 1), everyMs);
    return () => window.clearInterval(timer);
  }, [everyMs]);
  return tick;
}
