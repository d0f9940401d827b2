// How much each store counts for a caller, and what learning changed.

import type { models, Scrubjay } from "scrubjay";
import { useState } from "preact/hooks";

import { useQuery } from "../address.js";
import { client, may } from "../connection.js";
import { useLoad, usePages } from "../loading.js";
import { Bar } from "../parts/bars.js";
import { Confirm } from "../parts/dialog.js";
import { Choice, Field } from "../parts/field.js";
import { Filter } from "../parts/filter.js";
import { Problem } from "../parts/problem.js";
import { Name } from "../parts/stored.js";
import { ListEnd, Table, type Column } from "../parts/table.js";
import { Time } from "../parts/time.js";

type Store = Parameters<Scrubjay["setWeight"]>[0]["source"];

const HISTORY: Column<models.WeightChange>[] = [
  { head: "When", cell: (change) => <Time at={change.created_at} /> },
  { head: "Caller", cell: (change) => <Name text={change.caller} /> },
  { head: "Store", cell: (change) => change.source.replaceAll("_", " ") },
  { head: "Weight", cell: (change) => `${change.old_weight.toFixed(2)} → ${change.new_weight.toFixed(2)}`, number: true },
  {
    head: "Share",
    cell: (change) => `${Math.round(100 * change.old_token_share)} → ${Math.round(100 * change.new_token_share)} %`,
    number: true,
  },
  { head: "Because", cell: (change) => <Name text={reasonOf(change)} /> },
];

export function Weights() {
  const [{ caller = "" }, change] = useQuery();
  const weights = useLoad((signal) => client().weights({ caller: caller || undefined }, { signal }), [caller]);
  const history = usePages((signal) => client().weightHistory({ caller: caller || undefined, limit: 25 }, { signal }), [caller]);
  const [setting, setSetting] = useState<Partial<models.SourceWeight> | null>(null);
  const [learned, setLearned] = useState<string | null>(null);
  const [error, setError] = useState<unknown>();
  const reload = () => {
    weights.reload();
    history.reload();
  };
  const learn = () =>
    client()
      .evaluate()
      .then((done) => {
        setLearned(`${done.weight_adjustments.length} weights and ${done.budget_adjustments.length} budgets changed.`);
        reload();
      }, setError);
  return (
    <section aria-labelledby="weights">
      <h2 id="weights">How much each store counts</h2>
      <p>Feedback teaches these weights, unless somebody sets them by hand. A caller without a row has the start values.</p>
      <div class="filters">
        <Filter label="Caller" hint="* is the row for all callers" value={caller} onChange={(value) => change({ caller: value })} />
        {may("admin") && (
          <>
            <button type="button" onClick={() => setSetting({ caller })}>
              Set a weight
            </button>
            <button type="button" onClick={learn}>
              Learn now
            </button>
          </>
        )}
      </div>
      {learned && <p role="status">{learned}</p>}
      <Problem error={error ?? weights.error} retry={weights.reload} />
      {weights.data && <Rows weights={weights.data} onSet={setSetting} onReset={reload} />}
      <h3>What changed</h3>
      {history.items.length > 0 && <Table caption="Changes of weights" columns={HISTORY} rows={history.items} keyOf={(one) => one.id} />}
      <ListEnd list={history} empty="Nothing was learned or set yet." />
      {setting && weights.data && (
        <SetWeight stores={Object.keys(weights.data.start) as Store[]} start={setting} onSet={reload} onClose={() => setSetting(null)} />
      )}
    </section>
  );
}

function reasonOf(change: models.WeightChange): string {
  if (change.effectiveness == null) return change.cause;
  return `${change.cause}: ${Math.round(100 * change.effectiveness)} % useful in ${change.assemblies ?? "some"} answers`;
}

interface Row {
  caller: string;
  store: string;
  weight: number;
  start: number;
  own: models.SourceWeight | null;
}

function Rows({
  weights,
  onSet,
  onReset,
}: {
  weights: models.SourceWeights;
  onSet: (weight: models.SourceWeight) => void;
  onReset: () => void;
}) {
  const start: Row[] = Object.entries(weights.start).map(([store, weight]) => ({ caller: "start values", store, weight, start: weight, own: null }));
  const own: Row[] = weights.weights.map((one) => ({
    caller: one.caller,
    store: one.source,
    weight: one.weight,
    start: weights.start[one.source] ?? 1,
    own: one,
  }));
  const columns: Column<Row>[] = [
    { head: "Caller", cell: (row) => <Name text={row.caller} /> },
    { head: "Store", cell: (row) => row.store.replaceAll("_", " ") },
    { head: "Weight", cell: (row) => <Bar label="" value={row.weight} most={2} /> },
    { head: "Start", cell: (row) => row.start.toFixed(2), number: true },
    { head: "Share of the budget", cell: (row) => (row.own ? `${Math.round(100 * row.own.token_share)} %` : "–"), number: true },
    { head: "Set by", cell: (row) => (row.own === null ? "–" : row.own.manual ? "hand" : "learning") },
    { head: "Do", cell: (row) => may("admin") && row.own && <RowButtons weight={row.own} onSet={onSet} onReset={onReset} /> },
  ];
  return <Table caption="Weights" columns={columns} rows={[...own, ...start]} keyOf={(row) => `${row.caller} ${row.store}`} />;
}

function RowButtons({ weight, onSet, onReset }: { weight: models.SourceWeight; onSet: (weight: models.SourceWeight) => void; onReset: () => void }) {
  const [error, setError] = useState<unknown>();
  const { caller, source } = weight;
  const reset = () => client().resetWeight({ caller, source: source as Store }).then(onReset, setError);
  return (
    <span class="row-buttons">
      <button type="button" aria-label={`set ${source} of ${caller}`} onClick={() => onSet(weight)}>
        set
      </button>
      <button type="button" aria-label={`reset ${source} of ${caller}`} onClick={reset}>
        reset
      </button>
      <Problem error={error} />
    </span>
  );
}

function SetWeight({
  stores,
  start,
  onSet,
  onClose,
}: {
  stores: readonly Store[];
  start: Partial<models.SourceWeight>;
  onSet: () => void;
  onClose: () => void;
}) {
  const [caller, setCaller] = useState(start.caller ?? "");
  const [source, setSource] = useState<Store>((start.source as Store | undefined) ?? stores[0] ?? "psychic_cache");
  const [weight, setWeight] = useState(start.weight ?? 1);
  const [manual, setManual] = useState(start.manual ?? true);
  const save = () => client().setWeight({ caller, source, weight, manual }).then(onSet);
  return (
    <Confirm title="Set a weight" action="Set it" onConfirm={save} onClose={onClose}>
      <Field label="Caller" required hint="* for all callers" value={caller} onInput={(event) => setCaller(event.currentTarget.value)} />
      <Choice label="Store" value={source} options={stores.map((one) => [one, one.replaceAll("_", " ")] as const)} onChange={setSource} />
      <Field
        label="Weight"
        type="number"
        min={0}
        max={2}
        step="any"
        required
        value={weight}
        onInput={(event) => setWeight(Number(event.currentTarget.value))}
      />
      <label class="choice">
        <input type="checkbox" checked={manual} onChange={(event) => setManual(event.currentTarget.checked)} /> Learning leaves it
        alone
      </label>
    </Confirm>
  );
}
