import { useEffect, useRef, useState } from "preact/hooks";

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

/** `loading`: neither data nor error is of the newest key yet. */
export interface Loaded<T> { data: T | null; error: string | null; loading: boolean }

/**
 * Asks the console whenever `key` changes, after a pause in which no further change comes; null asks nothing. What was loaded
 * before stays until the new answer is there, and an answer that is no longer wanted is given up. Panels wait longer than the
 * picture, the first time, too: their questions would compete with its own.
 */
export function useAnswer<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>, pauseMs = 30): Loaded<T> {
  const [state, setState] = useState<{ key: string | null; data: T | null; error: string | null }>({ key: null, data: null, error: null });
  useEffect(() => {
    if (key === null) {
      setState({ key, data: null, error: null });
      return undefined;
    }
    const abort = new AbortController();
    const timer = window.setTimeout(() => {
      load(abort.signal).then(
        (data) => setState({ key, data, error: null }),
        (error: Error) => abort.signal.aborted || setState((before) => ({ key, data: before.data, error: error.message })),
      );
    }, pauseMs);
    return () => {
      abort.abort();
      window.clearTimeout(timer);
    };
  }, [key]);
  return { data: state.data, error: state.error, loading: state.key !== key };
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
