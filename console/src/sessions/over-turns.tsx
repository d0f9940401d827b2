// The window over turns as a chart, with the turns in which something was brought back.

import type { models } from "scrubjay";

import { Chart } from "../parts/chart.js";
import { LEVELS, stacked, windowOf } from "./window.js";

const COLOURS = ["--first", "--second", "--third", "--fourth"];

export function WindowOverTurns({
  objects,
  transitions,
  faults,
  turn,
}: {
  objects: readonly models.ListedObject[];
  transitions: readonly models.Transition[];
  faults: readonly models.Fault[];
  turn: number;
}) {
  if (turn === 0) return <p class="empty">No turn has ended yet.</p>;
  const { turns, tokens } = windowOf(objects, transitions, turn);
  const sums = stacked(tokens);
  const lines = LEVELS.map((label, level) => ({ label, values: sums[level] ?? [], colour: COLOURS[level] ?? "--sixth" }));
  const brought = faults.filter((one) => one.fault_type !== "micro_fault");
  return (
    <>
      <Chart
        label="Tokens after each turn, each level on top of those before it"
        xs={turns}
        lines={lines.reverse()}
        overTime={false}
        filled
        height={220}
        marks={brought.map((one) => one.turn_number)}
      />
      <p class="small">
        {brought.length === 0
          ? "Nothing had to be brought back."
          : `Dashed lines: something was brought back whole, ${brought.length} times.`}
      </p>
    </>
  );
}
