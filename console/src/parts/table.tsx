// A list as a table. On a phone each row becomes a card, with the head of the column before each value.

import type { ComponentChildren } from "preact";

import type { Listed } from "../loading.js";
import { Problem } from "./problem.js";

export interface Column<Row> {
  head: string;
  cell: (row: Row) => ComponentChildren;
  /** Numbers stand at the right. */
  number?: boolean;
}

export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
}: {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
}) {
  return (
    <div class="table" tabIndex={0} role="group" aria-label={caption}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ head, number }) => (
              <th scope="col" key={head} class={number ? "number" : undefined}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ head, cell, number }) => (
                <td key={head} data-head={head} class={number ? "number" : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The end of a list that comes in pages: what is wrong, that it is empty, or a button for more. */
export function ListEnd({ list, empty }: { list: Listed<unknown>; empty: string }) {
  if (list.error !== undefined) return <Problem error={list.error} retry={list.reload} />;
  if (list.loading) return <p class="waiting">Loading …</p>;
  if (list.items.length === 0) return <p class="empty">{empty}</p>;
  if (!list.more) return null;
  return (
    <button type="button" onClick={list.next}>
      Show more
    </button>
  );
}
