// Fields that narrow what a screen shows. What they say stands in the address once a person has finished typing.

import { useEffect, useState } from "preact/hooks";

import { Field } from "./field.js";

const PAUSE_MS = 350;

export function Filter({
  label,
  value,
  onChange,
  hint,
  type = "search",
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  hint?: string;
  type?: "search" | "date" | "datetime-local" | "number";
}) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed.trim() === value) return undefined;
    const timer = setTimeout(() => onChange(typed.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <Field
      label={label}
      hint={hint}
      type={type}
      value={typed}
      spellcheck={false}
      onInput={(event) => setTyped(event.currentTarget.value)}
    />
  );
}
