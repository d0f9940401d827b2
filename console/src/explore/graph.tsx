// The facts around an entity, as a picture that one can walk and as a list that says the same.

import type { models } from "scrubjay";
import { useRoute } from "preact-iso";

import { client } from "../connection.js";
import { useLoad, useNarrow } from "../loading.js";
import { Problem } from "../parts/problem.js";
import { Name, visible } from "../parts/stored.js";
import { Table, type Column } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { History } from "./history.js";

const MOST = 60;
// How large the picture is, how many facts it draws, and how many characters it shows of a name.
const WIDE = { width: 900, height: 620, drawn: 12, shown: 26 };
const NARROW = { width: 400, height: 560, drawn: 8, shown: 13 };

const COLUMNS: Column<models.Neighbour>[] = [
  { head: "Subject", cell: (fact) => <Entity name={fact.subject} /> },
  { head: "Says", cell: (fact) => <Name text={fact.predicate} /> },
  { head: "Object", cell: (fact) => <Entity name={fact.object} /> },
  { head: "Holds since", cell: (fact) => <Time at={fact.valid_from} /> },
  { head: "Sure", cell: (fact) => `${Math.round(100 * fact.confidence)} %`, number: true },
  { head: "By", cell: (fact) => <Name text={fact.agent_name ?? fact.written_by} /> },
  { head: "Notes", cell: (fact) => (fact.disputed ? "disputed" : "") },
  { head: "Item", cell: (fact) => <a href={`/console/explore/item/kg:${fact.id}`}>kg:{fact.id}</a> },
];

export function Facts() {
  const entity = useRoute().params["entity"] ?? "";
  const found = useLoad((signal) => client().kg.neighbours({ entity, hops: 1, limit: MOST }, { signal }), [entity]);
  const facts = found.data?.data ?? [];
  return (
    <>
      <h1>
        Facts of <Name text={entity} />
      </h1>
      <section aria-labelledby="graph">
        <h2 id="graph">Around it</h2>
        <Problem error={found.error} retry={found.reload} />
        {found.data === undefined && found.loading && <p class="waiting">Loading …</p>}
        {found.data && facts.length === 0 && <p class="empty">No fact names it, as far as this key may read.</p>}
        {facts.length > 0 && (
          <>
            <Picture entity={entity} facts={facts} />
            <Table caption="Facts" columns={COLUMNS} rows={facts} keyOf={(fact) => fact.id} />
          </>
        )}
      </section>
      <History entity={entity} />
    </>
  );
}

function Entity({ name }: { name: string }) {
  return (
    <a href={addressOf(name)}>
      <Name text={name} />
    </a>
  );
}

function addressOf(name: string): string {
  return `/console/explore/facts/${encodeURIComponent(name)}`;
}

/** The entity in the middle, and around it what its first facts name. */
function Picture({ entity, facts }: { entity: string; facts: readonly models.Neighbour[] }) {
  const { width, height, drawn, shown } = useNarrow() ? NARROW : WIDE;
  const some = facts.slice(0, drawn);
  const middle = { x: width / 2, y: height / 2 };
  return (
    <>
      <svg class="graph" viewBox={`0 0 ${width} ${height}`} role="group" aria-label="Facts as a picture">
        {some.map((fact, place) => {
          const angle = (2 * Math.PI * place) / some.length - Math.PI / 2;
          const end = { x: middle.x + width * 0.33 * Math.cos(angle), y: middle.y + height * 0.42 * Math.sin(angle) };
          const other = sameName(fact.subject, entity) ? fact.object : fact.subject;
          return (
            <a key={fact.id} href={addressOf(other)}>
              <line x1={middle.x} y1={middle.y} x2={end.x} y2={end.y} class={fact.disputed ? "disputed" : undefined} />
              <text x={(middle.x + end.x) / 2} y={(middle.y + end.y) / 2 - 4} class="predicate">
                {short(fact.predicate, shown)}
              </text>
              <Node {...end} words={short(other, shown)} />
            </a>
          );
        })}
        <Node {...middle} words={short(entity, shown)} main />
      </svg>
      {facts.length > drawn && (
        <p class="small">
          The picture holds {drawn} of {facts.length} facts, the list below all of them.
        </p>
      )}
    </>
  );
}

function Node({ x, y, words, main }: { x: number; y: number; words: string; main?: boolean }) {
  const width = Math.max(60, 9 * words.length + 20);
  return (
    <g class={main ? "node main-node" : "node"}>
      <rect x={x - width / 2} y={y - 15} width={width} height={30} rx={15} />
      <text x={x} y={y + 5}>
        {words}
      </text>
    </g>
  );
}

/** What cannot be seen is named first, so that names stay in their boxes. */
function short(text: string, most: number): string {
  const plain = visible(text.slice(0, most + 1))
    .map((piece) => piece.props.children ?? "")
    .join("");
  return plain.length > most ? `${plain.slice(0, most - 1)}…` : plain;
}

function sameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
