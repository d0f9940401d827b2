// A secret, shown once.

import type { models } from "scrubjay";
import { useState } from "preact/hooks";

export function Secret({ made, onClose }: { made: models.MadeKey; onClose: () => void }) {
  const [copied, setCopied] = useState(false);
  if (made.token === null) return null;
  const token = made.token;
  const copy = () => void navigator.clipboard.writeText(token).then(() => setCopied(true));
  return (
    <div class="secret" role="status">
      <p>
        <strong>The secret of key:{made.key.id}.</strong> It is shown this once: keep it where the agent finds it.
      </p>
      <code>{token}</code>
      <div class="buttons">
        <button type="button" onClick={copy}>
          {copied ? "Copied" : "Copy"}
        </button>
        <button type="button" onClick={onClose}>
          I have kept it
        </button>
      </div>
    </div>
  );
}
