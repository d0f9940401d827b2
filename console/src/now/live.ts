// The timeline as it happens. Events are counted at once and shown a few times a second, so that a busy fleet costs a
// page no more than a calm one.

import { ScrubjayError } from "scrubjay";
import type { EventsArgs, models } from "scrubjay";
import { useEffect, useRef, useState } from "preact/hooks";

import { client } from "../connection.js";

const SHOWN = 200;
const SHOW_EVERY_MS = 250;
export const SECONDS = 300;

export interface Live {
  /** The latest first. */
  events: readonly models.Event[];
  /** How many came since the page was opened. */
  count: number;
  /** Events in each of the last 300 seconds, up to the one that runs: those that wrote, and the others. */
  writes: readonly number[];
  others: readonly number[];
  error: unknown;
}

class Counter {
  readonly writes = new Array<number>(SECONDS).fill(0);
  readonly others = new Array<number>(SECONDS).fill(0);
  private second = now();

  add(event: models.Event): void {
    this.turn();
    const counts = isWrite(event.kind) ? this.writes : this.others;
    counts[SECONDS - 1] = (counts[SECONDS - 1] ?? 0) + 1;
  }

  turn(): void {
    for (const passed = Math.min(SECONDS, now() - this.second); this.second < now(); this.second += 1) {
      for (const counts of [this.writes, this.others]) {
        counts.shift();
        counts.push(0);
      }
      if (passed >= SECONDS) this.second = now() - 1;
    }
  }
}

function now(): number {
  return Math.floor(Date.now() / 1_000);
}

function isWrite(kind: string): boolean {
  return !/(query|assembl|search|read)/.test(kind);
}

export function useLive(args: EventsArgs, paused: boolean): Live {
  const [live, setLive] = useState<Live>({ events: [], count: 0, writes: [], others: [], error: undefined });
  const held = useRef<{ recent: models.Event[]; count: number; error: unknown }>({ recent: [], count: 0, error: undefined });
  const counter = useRef(new Counter());
  const still = useRef(paused);
  still.current = paused;
  useEffect(() => {
    const controller = new AbortController();
    held.current = { recent: [], count: 0, error: undefined };
    void follow(args, controller.signal, (event) => {
      const { recent } = held.current;
      held.current.count += 1;
      recent.push(event);
      if (recent.length > 2 * SHOWN) recent.splice(0, recent.length - SHOWN);
      counter.current.add(event);
    }).catch((error: unknown) => {
      if (!controller.signal.aborted) held.current.error = error;
    });
    const timer = setInterval(() => {
      counter.current.turn();
      if (still.current || document.hidden) return;
      const { recent, count, error } = held.current;
      const { writes, others } = counter.current;
      setLive({ events: recent.slice(-SHOWN).reverse(), count, writes: [...writes], others: [...others], error });
    }, SHOW_EVERY_MS);
    return () => {
      clearInterval(timer);
      controller.abort();
    };
  }, [args.mission, args.kind]);
  return live;
}

async function follow(args: EventsArgs, signal: AbortSignal, take: (event: models.Event) => void): Promise<void> {
  for await (const event of client().events(args, { signal })) {
    if (signal.aborted) throw new ScrubjayError("left");
    take(event);
  }
}
