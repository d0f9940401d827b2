// What counts how much, and what it costs.

import { Budgets } from "./budgets.js";
import { Costs } from "./costs.js";
import { Retention } from "./retention.js";
import { Weights } from "./weights.js";

export function Tune() {
  return (
    <>
      <h1>Tune and pay</h1>
      <Weights />
      <Budgets />
      <Costs />
      <Retention />
    </>
  );
}
