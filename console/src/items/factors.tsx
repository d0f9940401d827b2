// Why an item stands where it stands: the factors of its score, as bars.

import { Bar } from "../parts/bars.js";

export interface Factors {
  score?: number | null;
  weight?: number | null;
  relevance?: number | null;
  recency?: number | null;
  priority?: number | null;
}

// A bar is full at the most that a factor is by default.
const MOST = { score: 1.2, weight: 2, relevance: 1, recency: 1, priority: 1.2 } as const;
const KINDS = { score: "first", weight: "second", relevance: "third", recency: "fourth", priority: "fifth" } as const;

export function FactorBars({ factors }: { factors: Factors }) {
  return (
    <div class="factors">
      {(Object.keys(MOST) as (keyof typeof MOST)[]).map((name) => {
        const value = factors[name];
        return value === null || value === undefined ? null : (
          <Bar key={name} label={name} value={value} most={MOST[name]} kind={KINDS[name]} shown={value.toFixed(3)} />
        );
      })}
    </div>
  );
}
