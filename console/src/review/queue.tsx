// The queue. One item is chosen at a time, and letters decide about it.

import type { models } from "scrubjay";
import { useEffect, useRef, useState } from "preact/hooks";

import { client, may } from "../connection.js";
import { usePages } from "../loading.js";
import { Problem } from "../parts/problem.js";
import { ListEnd } from "../parts/table.js";
import { Deciding, type Asked } from "./deciding.js";
import { QueueItem } from "./item.js";

export type Reason = models.ReviewItem["kind"];
export type Decision = "approve" | "merge" | "edit" | "forget";

const LETTERS: Record<string, Decision> = { a: "approve", m: "merge", e: "edit", f: "forget" };
const STEPS: Record<string, number> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

export function Queue(filter: { kind?: Reason; mission?: string; agent?: string }) {
  const list = usePages((signal) => client().review({ ...filter, limit: 25 }, { signal }), [filter.kind, filter.mission, filter.agent]);
  const [decided, setDecided] = useState<ReadonlySet<string>>(new Set());
  const [chosen, setChosen] = useState(0);
  const [asked, setAsked] = useState<Asked | null>(null);
  const [error, setError] = useState<unknown>();
  const deciding = useRef(new Set<string>());
  const items = list.items.filter((item) => !decided.has(item.handle));
  const place = Math.min(chosen, items.length - 1);

  const done = (item: models.ReviewItem) => {
    setAsked((now) => (now?.item.handle === item.handle ? null : now));
    setError(undefined);
    // Several answers may come before the page is drawn again.
    setDecided((before) => new Set([...before, item.handle]));
  };
  const start = (item: models.ReviewItem, decision: Decision) => {
    if (decision === "merge" && !item.other) return;
    if (decision !== "approve") return setAsked({ item, decision });
    if (deciding.current.has(item.handle)) return;
    deciding.current.add(item.handle);
    client()
      .reviewDecide({ handle: item.handle, decision })
      .then(() => done(item), setError)
      .finally(() => deciding.current.delete(item.handle));
  };
  useLetters(asked === null, (key) => {
    const step = STEPS[key];
    const decision = LETTERS[key];
    const item = items[place];
    if (step !== undefined) setChosen(Math.max(0, Math.min(items.length - 1, place + step)));
    else if (decision !== undefined && item !== undefined && may("admin")) start(item, decision);
    else return false;
    return true;
  });
  return (
    <>
      <p class="small">
        <kbd>j</kbd> next, <kbd>k</kbd> previous{may("admin") && (
          <>
            , <kbd>a</kbd> approve, <kbd>m</kbd> merge, <kbd>e</kbd> edit, <kbd>f</kbd> forget
          </>
        )}
        . {decided.size > 0 && `${decided.size} decided.`}
      </p>
      <Problem error={error} />
      <ol class="items">
        {items.map((item, number) => (
          <QueueItem
            key={item.handle + item.kind}
            item={item}
            chosen={number === place}
            onChoose={() => setChosen(number)}
            onDecide={(decision) => start(item, decision)}
          />
        ))}
      </ol>
      <ListEnd list={{ ...list, items }} empty="Nothing waits." />
      {asked && <Deciding asked={asked} onDecided={() => done(asked.item)} onClose={() => setAsked(null)} />}
    </>
  );
}

/** Calls `take` for each letter that is typed outside of fields. It answers whether the letter meant something. */
function useLetters(active: boolean, take: (key: string) => boolean): void {
  const latest = useRef(take);
  latest.current = take;
  useEffect(() => {
    if (!active) return undefined;
    const listen = (event: KeyboardEvent) => {
      const inField = event.target instanceof Element && event.target.closest("input, textarea, select, dialog, pre");
      if (inField || event.ctrlKey || event.metaKey || event.altKey) return;
      if (latest.current(event.key)) event.preventDefault();
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, [active]);
}
