// What each day cost.

import type { models } from "scrubjay";

import { client } from "../connection.js";
import { useLoad } from "../loading.js";
import { Chart } from "../parts/chart.js";
import { Problem } from "../parts/problem.js";
import type { CostFilter } from "./costs.js";

const DAY_SECONDS = 86_400;

export function Days({ filter }: { filter: CostFilter }) {
  const days = useLoad((signal) => client().costs({ ...filter, by: "day", limit: 100 }, { signal }).all(), Object.values(filter));
  if (days.error !== undefined) return <Problem error={days.error} retry={days.reload} />;
  if (days.data === undefined) return <p class="waiting">Loading …</p>;
  if (days.data.length === 0) return null;
  const { xs, cents } = filledDays(days.data);
  return <Chart label="US cents a day, in UTC" xs={xs} lines={[{ label: "US cents", values: cents, colour: "--first" }]} filled />;
}

/** A day without a call cost nothing, and has no group. */
function filledDays(groups: readonly models.CostGroup[]): { xs: number[]; cents: number[] } {
  const known = new Map(groups.map((one) => [Date.parse(`${one.name}T00:00:00Z`) / 1_000, 100 * Number(one.all.cost_usd)]));
  const first = Math.min(...known.keys());
  const last = Math.max(...known.keys());
  // A line needs two points: the day before the first cost nothing.
  const xs = Array.from({ length: (last - first) / DAY_SECONDS + 2 }, (_, number) => first + (number - 1) * DAY_SECONDS);
  return { xs, cents: xs.map((day) => known.get(day) ?? 0) };
}
