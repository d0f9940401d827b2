// Text that somebody stored. It is shown as text: never as markup, never in another direction than its own, and what
// cannot be seen is named.

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { pieces } from "./difference.js";

const AT_FIRST = 4_000;
const AT_A_TIME = 50_000;

// Controls but for tab and line feed, what turns the direction of text, what has no width, and tags.
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;

function named(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** The text with a mark in place of each character that cannot be seen. */
export function visible(text: string): JSX.Element[] {
  const pieces: JSX.Element[] = [];
  let end = 0;
  for (const found of text.matchAll(HIDDEN)) {
    pieces.push(<>{text.slice(end, found.index)}</>);
    pieces.push(<span class="hidden-character">{named(found[0])}</span>);
    end = found.index + found[0].length;
  }
  pieces.push(<>{text.slice(end)}</>);
  return pieces;
}

/** A stored text in a box of its own. A long one begins with its first 4,000 characters. */
export function StoredText({
  text,
  label,
  marked,
}: {
  text: string;
  label?: string;
  /** Words to mark. */
  marked?: ReadonlySet<string>;
}) {
  const [shown, setShown] = useState(AT_FIRST);
  const rest = text.length - shown;
  return (
    <div class="stored">
      <pre dir="auto" tabIndex={0} aria-label={label ?? "Stored text"} role="group">
        {marked ? <Marked text={text.slice(0, shown)} words={marked} /> : visible(text.slice(0, shown))}
        {rest > 0 && "…"}
      </pre>
      {rest > 0 && (
        <button type="button" class="quiet" onClick={() => setShown(shown + AT_A_TIME)}>
          Show more ({rest.toLocaleString("en")} characters left)
        </button>
      )}
    </div>
  );
}

function Marked({ text, words }: { text: string; words: ReadonlySet<string> }) {
  return <>{pieces(text, words).map((piece, place) => (place % 2 === 1 ? <mark>{piece}</mark> : visible(piece)))}</>;
}

/** A stored name, or a short excerpt, within a line. */
export function Name({ text, most = 120 }: { text: string | null | undefined; most?: number }) {
  if (text === null || text === undefined || text === "") return <span class="none">none</span>;
  const cut = text.length > most ? `${text.slice(0, most)}…` : text;
  return (
    <bdi class="name" title={text.length > most ? text.slice(0, 1_000) : undefined}>
      {visible(cut)}
    </bdi>
  );
}
