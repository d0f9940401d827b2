// The missions and agents whose writes wait for a reviewer.

import type { models } from "scrubjay";
import { useState } from "preact/hooks";

import { client } from "../connection.js";
import { usePages } from "../loading.js";
import { Choice, Field } from "../parts/field.js";
import { Problem } from "../parts/problem.js";
import { Name } from "../parts/stored.js";
import { ListEnd, Table, type Column } from "../parts/table.js";
import { Time } from "../parts/time.js";

type Subject = "mission" | "agent";

export function Rules() {
  const list = usePages((signal) => client().reviewRules({ limit: 50 }, { signal }), []);
  const [error, setError] = useState<unknown>();
  const [subject, setSubject] = useState<Subject>("mission");
  const [name, setName] = useState("");
  const set = (event: Event) => {
    event.preventDefault();
    const rule = subject === "mission" ? { mission_id: name.trim() } : { agent_name: name.trim() };
    client()
      .setReviewRule(rule)
      .then(() => {
        setName("");
        list.reload();
      }, setError);
  };
  const end = ({ scope }: models.ReviewRule) => {
    const [kind, ...rest] = scope.split(":");
    const args = kind === "mission" ? { mission: rest.join(":") } : { agent: rest.join(":") };
    client().resetReviewRule(args).then(list.reload, setError);
  };
  const columns: Column<models.ReviewRule>[] = [
    { head: "Whose writes wait", cell: (rule) => <Name text={rule.scope} /> },
    { head: "Set by", cell: (rule) => <Name text={rule.set_by} /> },
    { head: "Since", cell: (rule) => <Time at={rule.set_at} /> },
    {
      head: "Do",
      cell: (rule) => (
        <button type="button" aria-label={`end the rule of ${rule.scope}`} onClick={() => end(rule)}>
          end
        </button>
      ),
    },
  ];
  return (
    <section aria-labelledby="rules">
      <h2 id="rules">Whose writes wait</h2>
      <form class="filters" onSubmit={set}>
        <Choice
          label="Of"
          value={subject}
          options={[
            ["mission", "a mission"],
            ["agent", "an agent"],
          ]}
          onChange={setSubject}
        />
        <Field label="Its name" required value={name} onInput={(event) => setName(event.currentTarget.value)} />
        <button type="submit">Let them wait</button>
      </form>
      <Problem error={error} />
      {list.items.length > 0 && <Table caption="Rules" columns={columns} rows={list.items} keyOf={(rule) => rule.scope} />}
      <ListEnd list={list} empty="No write waits." />
    </section>
  );
}
