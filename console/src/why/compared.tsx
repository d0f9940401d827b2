// What a block would hold, with a mark on what another one does not.

import { Name } from "../parts/stored.js";

export interface Shown {
  handle: string;
  score?: number | null;
  taken: number;
}

export function Block({
  title,
  items,
  others,
  mark,
}: {
  title: string;
  items: readonly Shown[];
  others: readonly Shown[];
  mark: string;
}) {
  const shared = new Set(others.map((one) => one.handle));
  return (
    <div>
      <h3>{title}</h3>
      <ol>
        {items.map(({ handle, score, taken }) => (
          <li key={handle} class={shared.has(handle) ? undefined : "differs"}>
            <a href={`/console/explore/item/${encodeURIComponent(handle)}`}>
              <Name text={handle} />
            </a>{" "}
            <span class="small">
              {taken} tokens, score {score?.toFixed(3) ?? "–"}
            </span>
            {!shared.has(handle) && <strong> {mark}</strong>}
          </li>
        ))}
      </ol>
    </div>
  );
}
