// An item of the queue: its text, beside the text that it resembles or contradicts.

import type { models } from "scrubjay";
import { useEffect, useRef } from "preact/hooks";

import { may } from "../connection.js";
import { Name, StoredText } from "../parts/stored.js";
import { Time } from "../parts/time.js";
import { differing } from "../parts/difference.js";
import type { Decision } from "./queue.js";

const WHY: Record<models.ReviewItem["kind"], string> = {
  waiting: "Waits: nobody is shown it before it is approved",
  near_duplicate: "Another memory says nearly the same",
  disputed: "Another fact contradicts it",
  low_trust: "Neither a user nor an agent vouches for it",
  derived: "Learned from sessions or files",
};

export function QueueItem({
  item,
  chosen,
  onChoose,
  onDecide,
}: {
  item: models.ReviewItem;
  chosen: boolean;
  onChoose: () => void;
  onDecide: (decision: Decision) => void;
}) {
  const element = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (chosen) element.current?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const words = item.other ? differing(item.content, item.other.content) : null;
  return (
    <li ref={element} class={chosen ? "item chosen" : "item"} aria-current={chosen ? "true" : undefined} onClick={onChoose}>
      <h3>
        {WHY[item.kind]}
        {item.rules.length > 0 && (
          <>
            {" "}
            (<Name text={item.rules.join(", ")} />)
          </>
        )}
        {item.distance !== null && <span class="small"> {Math.round(100 * (1 - item.distance))} % alike</span>}
      </h3>
      <div class={item.other ? "halves" : undefined}>
        <Side item={item} marked={words?.one} />
        {item.other && <Side item={item.other} marked={words?.other} />}
      </div>
      {may("admin") && (
        <div class="buttons">
          {(["approve", "merge", "edit", "forget"] as const)
            .filter((decision) => decision !== "merge" || item.other)
            .map((decision) => (
              <button type="button" key={decision} aria-label={`${decision} ${item.handle}`} onClick={() => onDecide(decision)}>
                {decision}
              </button>
            ))}
        </div>
      )}
    </li>
  );
}

function Side({ item, marked }: { item: models.ReviewedItem; marked?: ReadonlySet<string> }) {
  const stored = !item.handle.includes(":-");
  return (
    <div>
      <p class="small">
        {stored ? (
          <a href={`/console/explore/item/${encodeURIComponent(item.handle)}`}>
            <Name text={item.handle} />
          </a>
        ) : (
          "Not stored yet"
        )}{" "}
        · <Name text={item.scope} /> · by <Name text={item.agent_name} /> (<Name text={item.written_by} />) · {item.source_kind}
        {item.source_claim && `, says ${item.source_claim}`} · <Time at={item.created_at} />
      </p>
      <StoredText text={item.content + (item.cut ? " …" : "")} label={item.handle} marked={marked} />
    </div>
  );
}
