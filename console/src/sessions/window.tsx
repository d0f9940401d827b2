// The context over the turns: a column for each, with its levels above each other and what was brought back marked.

import type { models } from "scrubjay";
import { useMemo } from "preact/hooks";

import { useQuery } from "../address.js";
import { Stacked } from "../parts/bars.js";
import { Range } from "../parts/field.js";
import { COLOURS, levelName } from "./levels.js";
import { OfTurn } from "./of-turn.js";
import type { Past } from "./past.js";
import { columnsOf, turnsOf, type Turn } from "./turns.js";

const COLUMNS = 160;

export function Window({ session, past }: { session: models.Session; past: Past }) {
  return (
    <section aria-labelledby="window">
      <h2 id="window">Its context window over turns</h2>
      {past.objects.length === 0 ? <p class="empty">It never held anything.</p> : <Turns session={session} past={past} />}
    </section>
  );
}

function Turns({ session, past }: { session: models.Session; past: Past }) {
  const [query, change] = useQuery();
  const last = session.total_turns;
  const turns = useMemo(() => turnsOf(past, last), [past, last]);
  const asked = Number(query["turn"] ?? last);
  const chosen = Number.isInteger(asked) ? Math.min(last, Math.max(0, asked)) : last;
  const at = turns[chosen] as Turn;
  const budget = session.config.token_budget ?? 100_000;
  return (
    <>
      <Columns turns={turns} chosen={chosen} budget={budget} />
      <Range label="After this turn" value={chosen} most={last} onChange={(turn) => change({ turn: String(turn) })} />
      <Stacked
        label={`After turn ${chosen}: ${sum(at.tokens).toLocaleString("en")} of ${budget.toLocaleString("en")} tokens, by how much of each object is shown`}
        parts={COLOURS.map((kind, level) => ({
          label: `${levelName(level)}, ${(at.objects[level] ?? 0).toLocaleString("en")} objects, tokens`,
          value: at.tokens[level] ?? 0,
          kind,
        }))}
        most={Math.max(budget, sum(at.tokens))}
      />
      <p class="small">
        {(at.objects[4] ?? 0).toLocaleString("en")} objects are not shown. The block as it was sent keeps its bytes until it is made
        anew, so it can hold more.
      </p>
      <OfTurn session={session.id} past={past} turn={chosen} />
    </>
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

const HEIGHT = 100;
const STRIP = 14;

/** A picture for the eye: the text below it says the same of each turn. */
function Columns({ turns, chosen, budget }: { turns: readonly Turn[]; chosen: number; budget: number }) {
  const columns = useMemo(() => columnsOf(turns, COLUMNS), [turns]);
  const most = Math.max(budget, ...columns.map((column) => sum(column.tokens)));
  const place = columns.findIndex((column) => column.turn >= chosen);
  return (
    <figure>
      <figcaption>
        Turns 0 to {turns.length - 1}, {most.toLocaleString("en")} tokens at the top. The line is the budget. Marks above the columns:
        <ul class="legend">
          <li>
            <span class="swatch fifth" aria-hidden="true" />
            brought back whole
          </li>
          <li>
            <span class="swatch sixth" aria-hidden="true" />
            asked
          </li>
        </ul>
      </figcaption>
      <svg class="window" viewBox={`0 0 ${columns.length} ${HEIGHT + STRIP}`} preserveAspectRatio="none" aria-hidden="true">
        <rect class="chosen" x={place} y={0} width={1} height={HEIGHT + STRIP} />
        {columns.map((column, x) => (
          <Column key={column.turn} column={column} x={x} most={most} />
        ))}
        <rect class="budget" x={0} y={STRIP + HEIGHT * (1 - budget / most)} width={columns.length} height={0.6} />
      </svg>
    </figure>
  );
}

function Column({ column, x, most }: { column: Turn; x: number; most: number }) {
  let below = STRIP + HEIGHT;
  return (
    <g>
      {column.returned > 0 && <rect class="fifth" x={x + 0.15} y={0} width={0.7} height={5} />}
      {column.asked > 0 && <rect class="sixth" x={x + 0.15} y={7} width={0.7} height={5} />}
      {COLOURS.map((kind, level) => {
        const height = (HEIGHT * (column.tokens[level] ?? 0)) / most;
        below -= height;
        return height > 0 && <rect key={kind} class={kind} x={x + 0.1} y={below} width={0.8} height={height} />;
      })}
    </g>
  );
}
