// What was found and did not make it into the block, by the reason.

import type { models } from "scrubjay";

import { Name } from "../parts/stored.js";
import { Table, type Column } from "../parts/table.js";

const REASONS: Record<string, string> = {
  budget: "No room was left",
  below_cut: "Too far from the best",
  repeat: "Says the same as another item",
  superseded: "A newer statement stands in its place",
  floor: "Too little evidence",
};
const AT_FIRST = 20;

const COLUMNS: Column<models.ExplainedCandidate>[] = [
  {
    head: "Item",
    cell: (one) => (
      <a href={`/console/explore/item/${encodeURIComponent(one.handle)}`}>
        <Name text={one.handle} />
      </a>
    ),
  },
  { head: "Why not", cell: (one) => <Reason candidate={one} /> },
  { head: "Score", cell: (one) => one.score?.toFixed(3) ?? "–", number: true },
  { head: "Relevance", cell: (one) => one.relevance?.toFixed(3) ?? "–", number: true },
  { head: "Tokens", cell: (one) => one.tokens ?? "–", number: true },
];

export function LeftOut({ candidates }: { candidates: readonly models.ExplainedCandidate[] }) {
  const out = candidates.filter((one) => one.outcome in REASONS);
  const counts = Object.keys(REASONS)
    .map((outcome) => [outcome, out.filter((one) => one.outcome === outcome).length] as const)
    .filter(([, count]) => count > 0);
  return (
    <section aria-labelledby="left-out">
      <h2 id="left-out">What was left out</h2>
      {out.length === 0 ? (
        <p class="empty">Nothing else was found.</p>
      ) : (
        <>
          <ul>
            {counts.map(([outcome, count]) => (
              <li key={outcome}>
                {REASONS[outcome]}: {count}
              </li>
            ))}
          </ul>
          <Table caption="Items left out" columns={COLUMNS} rows={out.slice(0, AT_FIRST)} keyOf={(one) => one.handle} />
          {out.length > AT_FIRST && <p class="small">The best {AT_FIRST} of {out.length} are shown.</p>}
        </>
      )}
    </section>
  );
}

function Reason({ candidate }: { candidate: models.ExplainedCandidate }) {
  const other = candidate.same_as ?? candidate.superseded_by;
  return (
    <>
      {REASONS[candidate.outcome] ?? candidate.outcome}
      {other && (
        <>
          : <Name text={other} />
        </>
      )}
    </>
  );
}
