// Fields of forms, each with its label.

import type { JSX } from "preact";
import { useId } from "preact/hooks";

type Input = Omit<JSX.IntrinsicElements["input"], "id" | "label">;

export function Field({ label, hint, ...input }: { label: string; hint?: string } & Input) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input {...(input as object)} id={id} aria-describedby={hint ? `${id}-hint` : undefined} />
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

export function Choice<T extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value as T)}>
        {options.map(([option, words]) => (
          <option key={option} value={option}>
            {words}
          </option>
        ))}
      </select>
    </div>
  );
}

/** A whole number from 0 to `most`, chosen by a slider or by its arrow keys. */
export function Range({ label, value, most, onChange }: { label: string; value: number; most: number; onChange: (value: number) => void }) {
  const id = useId();
  return (
    <div class="field range">
      <label for={id}>
        {label}: {value}
      </label>
      <input id={id} type="range" min={0} max={most} value={value} onInput={(event) => onChange(event.currentTarget.valueAsNumber)} />
    </div>
  );
}
