// An item of a block: its text as it is today, and the factors of its score.

import { NotFoundError } from "scrubjay";
import type { models } from "scrubjay";
import { useState } from "preact/hooks";

import { client } from "../connection.js";
import { FactorBars } from "../items/factors.js";
import { Remove } from "../items/removing.js";
import { textOf } from "../items/source.js";
import { useLoad } from "../loading.js";
import { Problem } from "../parts/problem.js";
import { Name, StoredText } from "../parts/stored.js";

export function BlockItem({ candidate, answer }: { candidate: models.ExplainedCandidate; answer: models.Explained }) {
  const [removed, setRemoved] = useState(false);
  // Without the assembly's id: looking at an item here teaches nothing.
  const source = useLoad((signal) => client().source({ handle: candidate.handle }, { signal }), [candidate.handle]);
  return (
    <li class="item">
      <h3>
        <a href={`/console/explore/item/${encodeURIComponent(candidate.handle)}`}>
          <Name text={candidate.handle} />
        </a>{" "}
        <span class="small">
          {candidate.taken} of {candidate.tokens ?? candidate.taken} tokens{marks(candidate, answer)}
        </span>
      </h3>
      <div class="halves">
        <div>
          {removed ? <p class="empty">Removed.</p> : <Text source={source.data} error={source.error} />}
          {!removed && source.data && <Remove source={source.data} onRemoved={() => setRemoved(true)} />}
        </div>
        <FactorBars factors={candidate} />
      </div>
    </li>
  );
}

function Text({ source, error }: { source: models.SourceItem | undefined; error: unknown }) {
  if (error instanceof NotFoundError) return <p class="empty">It is gone: deleted, expired, or outside of what this key may read.</p>;
  if (error !== undefined) return <Problem error={error} />;
  return source === undefined ? <p class="waiting">Loading …</p> : <StoredText text={textOf(source)} label={source.handle} />;
}

function marks({ handle, outcome }: models.ExplainedCandidate, answer: models.Explained): string {
  const words = [
    ...(outcome === "cut" ? ["shown in part"] : []),
    ...(outcome === "background" ? ["background"] : []),
    ...(answer.used_source_ids?.includes(handle) ? ["reported as useful"] : []),
    ...(answer.weak_source_ids?.includes(handle) ? ["read or cited later"] : []),
  ];
  return words.map((word) => ` · ${word}`).join("");
}
