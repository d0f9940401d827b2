// Asks before an item is merged or forgotten, and takes the new text of an edit.

import type { models } from "scrubjay";
import { useId, useState } from "preact/hooks";

import { client } from "../connection.js";
import { Confirm } from "../parts/dialog.js";
import { StoredText } from "../parts/stored.js";
import type { Decision } from "./queue.js";

export interface Asked {
  item: models.ReviewItem;
  decision: Exclude<Decision, "approve">;
}

const WORDS: Record<Asked["decision"], [string, string]> = {
  merge: ["Merge it into the other?", "Merge"],
  edit: ["Edit it", "Save and approve"],
  forget: ["Forget it?", "Forget it"],
};

export function Deciding({ asked, onDecided, onClose }: { asked: Asked; onDecided: () => void; onClose: () => void }) {
  const { item, decision } = asked;
  const [content, setContent] = useState(item.content);
  const id = useId();
  const [title, action] = WORDS[decision];
  const decide = () =>
    client()
      .reviewDecide({
        handle: item.handle,
        decision,
        ...(decision === "merge" && { into: item.other?.handle }),
        ...(decision === "edit" && { content }),
      })
      .then(onDecided);
  return (
    <Confirm title={title} action={action} danger={decision === "forget"} onConfirm={decide} onClose={onClose}>
      {decision === "edit" ? (
        <div class="field">
          <label for={id}>Text</label>
          <textarea id={id} dir="auto" value={content} onInput={(event) => setContent(event.currentTarget.value)} />
          {item.cut && <p class="hint">Only the beginning is shown here. What you save becomes the whole text.</p>}
        </div>
      ) : (
        <>
          <p>
            {decision === "merge"
              ? "Only the other one stays, and counts as confirmed."
              : "It is erased, and cannot be brought back."}
          </p>
          <StoredText text={item.content.slice(0, 500)} />
        </>
      )}
    </Confirm>
  );
}
