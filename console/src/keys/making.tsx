// The forms that make a key and change its limits.

import type { models } from "scrubjay";
import { useState } from "preact/hooks";

import { client } from "../connection.js";
import { Confirm } from "../parts/dialog.js";
import { Choice, Field } from "../parts/field.js";

type Access = "read" | "write" | "admin";

const ACCESS: readonly (readonly [Access, string])[] = [
  ["read", "read"],
  ["write", "read and write"],
  ["admin", "everything"],
];
const LIMITS = [
  ["requests_per_second", "Requests a second"],
  ["burst", "Burst"],
  ["requests_per_day", "Requests a day"],
  ["tokens_per_day", "Tokens written a day"],
] as const;

type Limits = Partial<Record<(typeof LIMITS)[number][0], string>>;

export function MakeKey({ onMade, onClose }: { onMade: (key: models.MadeKey) => void; onClose: () => void }) {
  const [access, setAccess] = useState<Access>("write");
  const [texts, setTexts] = useState({ name: "", agent: "", missions: "", users: "", expires: "" });
  const [limits, setLimits] = useState<Limits>({});
  const text = (name: keyof typeof texts) => ({
    value: texts[name],
    onInput: (event: { currentTarget: HTMLInputElement }) => setTexts({ ...texts, [name]: event.currentTarget.value }),
  });
  const make = () =>
    client()
      .makeKey({
        name: texts.name,
        access,
        ...(texts.agent && { agent: texts.agent }),
        ...(texts.missions && { missions: listOf(texts.missions) }),
        ...(texts.users && { users: listOf(texts.users) }),
        ...(texts.expires && { expires_at: new Date(texts.expires).toISOString() }),
        ...numbersOf(limits),
      })
      .then(onMade);
  return (
    <Confirm title="Make a key" action="Make it" onConfirm={make} onClose={onClose}>
      <Field label="Name" required maxLength={200} {...text("name")} />
      <Choice label="May" value={access} options={ACCESS} onChange={setAccess} />
      <Field label="Agent" hint="Empty: any agent." {...text("agent")} />
      <Field label="Missions" hint="With commas between them. Empty: all." {...text("missions")} />
      <Field label="Users" hint="With commas between them. Empty: all." {...text("users")} />
      <Field label="Ends" type="datetime-local" {...text("expires")} />
      <LimitFields limits={limits} onChange={setLimits} />
    </Confirm>
  );
}

export function ChangeKey({ apiKey, onChanged, onClose }: { apiKey: models.ApiKey; onChanged: () => void; onClose: () => void }) {
  const [name, setName] = useState(apiKey.name);
  const [limits, setLimits] = useState<Limits>(
    Object.fromEntries(LIMITS.map(([field]) => [field, apiKey[field] === null ? "" : String(apiKey[field])])),
  );
  const change = () => client().changeKey({ key_id: apiKey.id, name, ...numbersOf(limits) }).then(() => onChanged());
  return (
    <Confirm title={`Change key:${apiKey.id}`} action="Save" onConfirm={change} onClose={onClose}>
      <p class="small">What a key may do and whom it is bound to never changes: make another one for that.</p>
      <Field label="Name" required maxLength={200} value={name} onInput={(event) => setName(event.currentTarget.value)} />
      <LimitFields limits={limits} onChange={setLimits} />
    </Confirm>
  );
}

function LimitFields({ limits, onChange }: { limits: Limits; onChange: (limits: Limits) => void }) {
  return (
    <div class="filters">
      {LIMITS.map(([field, label]) => (
        <Field
          key={field}
          label={label}
          type="number"
          min={field === "requests_per_second" ? 0.001 : 1}
          step={field === "requests_per_second" ? "any" : 1}
          placeholder="no limit"
          value={limits[field] ?? ""}
          onInput={(event) => onChange({ ...limits, [field]: event.currentTarget.value })}
        />
      ))}
    </div>
  );
}

function numbersOf(limits: Limits): Record<string, number | null> {
  return Object.fromEntries(Object.entries(limits).map(([field, text]) => [field, text === "" ? null : Number(text)]));
}

function listOf(text: string): string[] {
  return text.split(",").map((one) => one.trim()).filter((one) => one !== "");
}
