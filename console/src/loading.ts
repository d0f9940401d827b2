// How a screen loads what it shows. An answer that comes after the screen has asked for something else is dropped.

import type { Pages } from "scrubjay";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

export interface Loaded<T> {
  data: T | undefined;
  error: unknown;
  loading: boolean;
  reload: () => void;
}

/** What `load` answers, asked for again when `inputs` change. What was shown stays until the new answer is there. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<{ data?: T; error?: unknown; loading: boolean }>({ loading: true });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    setState((before) => ({ data: before.data, loading: true }));
    load(controller.signal).then(
      (data) => !controller.signal.aborted && setState({ data, loading: false }),
      (error: unknown) => !controller.signal.aborted && setState({ error, loading: false }),
    );
    return () => controller.abort();
  }, [...inputs, turn]);
  return { data: state.data, error: state.error, loading: state.loading, reload: () => setTurn((now) => now + 1) };
}

export interface Listed<Item> {
  items: Item[];
  error: unknown;
  loading: boolean;
  /** Whether there is a further page. */
  more: boolean;
  next: () => void;
  reload: () => void;
}

/** The items of a list, a page at a time: the first at once, the others when `next` is called. */
export function usePages<A extends { data: readonly Item[]; next?: string | null }, Item>(
  list: (signal: AbortSignal) => Pages<A, Item>,
  inputs: readonly unknown[],
): Listed<Item> {
  const [state, setState] = useState<{ items: Item[]; error?: unknown; loading: boolean; more: boolean }>({
    items: [],
    loading: true,
    more: false,
  });
  const [turn, setTurn] = useState(0);
  const pages = useRef<AsyncGenerator<A, void, undefined>>(undefined);
  const asked = useRef(0);
  const next = useCallback(() => {
    const source = pages.current;
    const mine = asked.current;
    if (source === undefined) return;
    setState((before) => ({ ...before, loading: true, error: undefined }));
    source.next().then(
      ({ value, done }) => {
        if (asked.current !== mine) return;
        const data = done ? [] : ((value as A).data as readonly Item[]);
        const more = !done && typeof (value as A).next === "string";
        setState((before) => ({ items: [...before.items, ...data], loading: false, more }));
      },
      (error: unknown) => asked.current === mine && setState((before) => ({ ...before, error, loading: false, more: false })),
    );
  }, []);
  useEffect(() => {
    const controller = new AbortController();
    asked.current += 1;
    pages.current = list(controller.signal).pages();
    setState({ items: [], loading: true, more: false });
    next();
    return () => controller.abort();
  }, [...inputs, turn]);
  return { ...state, error: state.error, next, reload: () => setTurn((now) => now + 1) };
}

/** Calls `tick` every so many milliseconds while the page can be seen. */
export function useEvery(milliseconds: number, tick: () => void): void {
  const latest = useRef(tick);
  latest.current = tick;
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && latest.current(), milliseconds);
    return () => clearInterval(timer);
  }, [milliseconds]);
}

/** All items of a list, page after page, but no more than `most`. Not whole: there are more. */
export async function gather<A extends { data: readonly Item[]; next?: string | null }, Item>(
  list: Pages<A, Item>,
  most: number,
): Promise<{ items: Item[]; whole: boolean }> {
  const items: Item[] = [];
  for await (const page of list.pages()) {
    items.push(...page.data);
    if (items.length >= most) return { items: items.slice(0, most), whole: typeof page.next !== "string" && items.length === most };
  }
  return { items, whole: true };
}

const narrow = matchMedia("(max-width: 42rem)");

/** Whether the window is as narrow as a phone. */
export function useNarrow(): boolean {
  const [is, set] = useState(narrow.matches);
  useEffect(() => {
    const tell = () => set(narrow.matches);
    narrow.addEventListener("change", tell);
    return () => narrow.removeEventListener("change", tell);
  }, []);
  return is;
}
