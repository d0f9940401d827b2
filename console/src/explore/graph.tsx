// The facts around an entity, as a picture that one can walk and as a list that says the same.

import type { models } from "scrubjay";
import { useRoute } from "preact-iso";

import { client } from "../connection.js";
import { useLoad } from "../loading.js";
import { Problem } from "../parts/problem.js";
import { Name, visible } from "../parts/stored.js";
import { Table, type Column } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { History } from "./history.js";

const MOST = 60;
const DRAWN = 14;
const WIDTH = 900;
const HEIGHT = 520;
const SHOWN = 26;

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
            <Picture entity={entity} facts={facts.slice(0, DRAWN)} />
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
  const middle = { x: WIDTH / 2, y: HEIGHT / 2 };
  return (
    <svg class="graph" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="group" aria-label="Facts as a picture">
      {facts.map((fact, place) => {
        const angle = (2 * Math.PI * place) / facts.length - Math.PI / 2;
        const end = { x: middle.x + WIDTH * 0.37 * Math.cos(angle), y: middle.y + HEIGHT * 0.4 * Math.sin(angle) };
        const other = sameName(fact.subject, entity) ? fact.object : fact.subject;
        return (
          <g key={fact.id}>
            <line x1={middle.x} y1={middle.y} x2={end.x} y2={end.y} class={fact.disputed ? "disputed" : undefined} />
            <text x={(middle.x + end.x) / 2} y={(middle.y + end.y) / 2 - 4} class="predicate">
              {short(fact.predicate)}
            </text>
            <a href={addressOf(other)} aria-label={`${fact.predicate}: ${other}`}>
              <Node {...end} text={other} />
            </a>
          </g>
        );
      })}
      <Node {...middle} text={entity} main />
    </svg>
  );
}

function Node({ x, y, text, main }: { x: number; y: number; text: string; main?: boolean }) {
  const words = short(text);
  const width = Math.max(60, 9 * Math.min(SHOWN, words.length) + 20);
  return (
    <g class={main ? "node main-node" : "node"}>
      <rect x={x - width / 2} y={y - 15} width={width} height={30} rx={15} />
      <text x={x} y={y + 5}>
        {words}
      </text>
    </g>
  );
}

function short(text: string): string {
  const plain = visible(text.length > SHOWN ? `${text.slice(0, SHOWN - 1)}…` : text);
  return plain.map((piece) => piece.props.children ?? "").join("");
}

function sameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
