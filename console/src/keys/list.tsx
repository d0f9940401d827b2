// The tenant's keys with what they used today, and how one is made, changed, rotated and revoked.

import type { models } from "scrubjay";
import { useState } from "preact/hooks";

import { client } from "../connection.js";
import { useLoad, usePages } from "../loading.js";
import { Bar } from "../parts/bars.js";
import { Confirm } from "../parts/dialog.js";
import { Field } from "../parts/field.js";
import { Problem } from "../parts/problem.js";
import { Name } from "../parts/stored.js";
import { ListEnd, Table, type Column } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { ChangeKey, MakeKey } from "./making.js";
import { Secret } from "./secret.js";

/** How many of the keys that go with a revoked one are named. */
const SHOWN = 20;

type Doing = { what: "make" } | { what: "change" | "rotate" | "revoke"; key: models.ApiKey };

export function KeyList() {
  const list = usePages((signal) => client().listKeys({ limit: 50 }, { signal }), []);
  const [doing, setDoing] = useState<Doing | null>(null);
  const [made, setMade] = useState<models.MadeKey | null>(null);
  const close = () => setDoing(null);
  const done = (key?: models.MadeKey) => {
    if (key) setMade(key);
    list.reload();
  };
  return (
    <section aria-labelledby="keys">
      <h2 id="keys">API keys</h2>
      <button type="button" class="main" onClick={() => setDoing({ what: "make" })}>
        Make a key
      </button>
      {made && <Secret made={made} onClose={() => setMade(null)} />}
      {list.items.length > 0 && (
        <Table caption="API keys" columns={columnsOf(setDoing)} rows={list.items} keyOf={(key) => key.id} />
      )}
      <ListEnd list={list} empty="No key was made." />
      {doing?.what === "make" && <MakeKey onMade={done} onClose={close} />}
      {doing?.what === "change" && <ChangeKey apiKey={doing.key} onChanged={done} onClose={close} />}
      {doing?.what === "rotate" && <Rotate apiKey={doing.key} onRotated={done} onClose={close} />}
      {doing?.what === "revoke" && <Revoke apiKey={doing.key} onRevoked={done} onClose={close} />}
    </section>
  );
}

function columnsOf(start: (doing: Doing) => void): Column<models.ApiKey>[] {
  return [
    { head: "Key", cell: (key) => <><Name text={key.name} /> <span class="small">key:{key.id}</span></> },
    { head: "State", cell: (key) => <span class={`state ${key.status}`}>{key.status}</span> },
    { head: "May", cell: (key) => key.access },
    { head: "Bound to", cell: (key) => <Bounds apiKey={key} /> },
    { head: "Requests today", cell: (key) => <Used used={key.requests_today} most={key.requests_per_day} />, number: true },
    { head: "Tokens today", cell: (key) => <Used used={key.tokens_today} most={key.tokens_per_day} />, number: true },
    { head: "Last used", cell: (key) => <Time at={key.last_used_at} /> },
    { head: "Ends", cell: (key) => <Time at={key.expires_at} /> },
    { head: "Made by", cell: (key) => <Name text={key.created_by} /> },
    {
      head: "Do",
      cell: (key) =>
        key.status === "revoked" ? null : (
          <span class="row-buttons">
            {(["change", "rotate", "revoke"] as const).map((what) => (
              <button type="button" key={what} aria-label={`${what} key ${key.id}`} onClick={() => start({ what, key })}>
                {what}
              </button>
            ))}
          </span>
        ),
    },
  ];
}

function Bounds({ apiKey }: { apiKey: models.ApiKey }) {
  const bounds = [
    ...(apiKey.agent ? [`agent ${apiKey.agent}`] : []),
    ...(apiKey.missions ? [`missions ${apiKey.missions.join(", ")}`] : []),
    ...(apiKey.users ? [`users ${apiKey.users.join(", ")}`] : []),
  ];
  return <Name text={bounds.join("; ") || null} />;
}

function Used({ used, most }: { used: number; most: number | null }) {
  const words = used.toLocaleString("en");
  return most === null ? <>{words}</> : <Bar label="" value={used} most={most} shown={`${words} of ${most.toLocaleString("en")}`} />;
}

function Rotate({ apiKey, onRotated, onClose }: { apiKey: models.ApiKey; onRotated: (key: models.MadeKey) => void; onClose: () => void }) {
  const [hours, setHours] = useState(24);
  const rotate = () => client().rotateKey({ key_id: apiKey.id, overlap_seconds: Math.round(hours * 3_600) }).then(onRotated);
  return (
    <Confirm title={`Rotate key:${apiKey.id}`} action="Make a new secret" onConfirm={rotate} onClose={onClose}>
      <p>The key gets a new secret. The present one stays valid for a while, so that agents can change over.</p>
      <Field
        label="Hours that the present secret stays valid"
        type="number"
        min={0}
        max={720}
        step="any"
        value={hours}
        onInput={(event) => setHours(Number(event.currentTarget.value))}
      />
    </Confirm>
  );
}

function Revoke({ apiKey, onRevoked, onClose }: { apiKey: models.ApiKey; onRevoked: () => void; onClose: () => void }) {
  const keys = useLoad((signal) => client().listKeys({ limit: 100 }, { signal }).all(), []);
  const family = keys.data && madeBy(apiKey.id, keys.data);
  const revoke = () => client().revokeKey({ key_id: apiKey.id }).then(() => onRevoked());
  return (
    <Confirm title={`Revoke key:${apiKey.id}?`} action="Revoke it" danger onConfirm={revoke} onClose={onClose}>
      <p>
        <Name text={apiKey.name} /> is refused from now on, and so is every key that it made, and that those made. It
        cannot be undone.
      </p>
      <Problem error={keys.error} retry={keys.reload} />
      {family?.length === 0 && <p>It made no key that is still valid.</p>}
      {family !== undefined && family.length > 0 && (
        <>
          <p>
            With it {family.length === 1 ? "goes one key" : `go ${family.length.toLocaleString("en")} keys`}
            {family.length > SHOWN && `, of which the first ${SHOWN} are`}:
          </p>
          <ul>
            {family.slice(0, SHOWN).map((key) => (
              <li key={key.id}>
                <Name text={key.name} /> <span class="small">key:{key.id}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </Confirm>
  );
}

/** The keys that a key made, and those that these made, without those that are revoked already. */
function madeBy(id: number, keys: readonly models.ApiKey[]): models.ApiKey[] {
  const family = new Set([`key:${id}`]);
  // A key is older than those that it made.
  const later = [...keys].sort((one, other) => one.id - other.id).filter((key) => {
    const made = key.created_by !== null && family.has(key.created_by);
    if (made) family.add(`key:${key.id}`);
    return made;
  });
  return later.filter((key) => key.status !== "revoked");
}
