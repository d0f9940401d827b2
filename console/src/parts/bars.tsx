// Small bars within text and tables. Each says its number as text, too.

export function Bar({ value, most, label, shown, kind }: { value: number; most: number; label: string; shown?: string; kind?: string }) {
  const share = most > 0 ? Math.min(1, Math.max(0, value / most)) : 0;
  return (
    <span class="bar">
      <span class="bar-label">{label}</span>
      <span class="bar-track" aria-hidden="true">
        <span class={`bar-fill ${kind ?? ""}`} style={{ inlineSize: `${share * 100}%` }} />
      </span>
      <span class="bar-value">{shown ?? value.toFixed(2)}</span>
    </span>
  );
}

export interface Part {
  label: string;
  value: number;
  /** A class that gives it its colour. */
  kind: string;
}

/** Parts of a whole beside each other, with a list of what they are. `most` is the whole. */
export function Stacked({ label, parts, most }: { label: string; parts: readonly Part[]; most: number }) {
  return (
    <figure class="stacked">
      <figcaption>{label}</figcaption>
      <div class="stacked-track" aria-hidden="true">
        {parts.map((part) => (
          <span
            key={part.label}
            class={`bar-fill ${part.kind}`}
            style={{ inlineSize: `${most > 0 ? (100 * part.value) / most : 0}%` }}
            title={`${part.label}: ${part.value.toLocaleString("en")}`}
          />
        ))}
      </div>
      <ul class="legend">
        {parts.map((part) => (
          <li key={part.label}>
            <span class={`swatch ${part.kind}`} aria-hidden="true" />
            {part.label}: {part.value.toLocaleString("en")}
          </li>
        ))}
      </ul>
    </figure>
  );
}
