// Erases one item, after it was asked once.

import type { models } from "scrubjay";
import { useState } from "preact/hooks";

import { may } from "../connection.js";
import { Confirm } from "../parts/dialog.js";
import { StoredText } from "../parts/stored.js";
import { forgetting, textOf } from "./source.js";

export function Remove({ source, onRemoved }: { source: models.SourceItem; onRemoved: () => void }) {
  const [asking, setAsking] = useState(false);
  const forget = forgetting(source);
  if (!may("write") || forget === null) return null;
  return (
    <>
      <button type="button" onClick={() => setAsking(true)}>
        Remove
      </button>
      {asking && (
        <Confirm
          title={`Remove ${source.handle}?`}
          action="Remove it"
          danger
          onConfirm={() => forget().then(onRemoved)}
          onClose={() => setAsking(false)}
        >
          <p>No agent will be given it any more. It cannot be brought back.</p>
          <StoredText text={textOf(source).slice(0, 500)} />
        </Confirm>
      )}
    </>
  );
}
