// Takes a context block apart.

export interface Item {
  handle: string;
  /** What its header says besides: time, kind, source, author, and how many items say the same (`×3`). */
  heading: string;
  text: string;
}

// The ends of lines and the brackets that the service tells apart.
const ENDS = "\\n\\r\\x0b\\x0c\\x1c-\\x1e\\x85\\u2028\\u2029";
const OPENING =
  "\\[\\u2045\\u23a1\\u2308\\u230a\\u2772\\u27e6\\u298b\\u298d\\u298f\\u3010\\u3014\\u3016\\u3018\\u301a\\ufe47\\ufe5d\\uff3b";
const PUNCTUATION = "!\"#$%&'*+,\\-.\\/:;=?@\\^`|~";
const OVERLOOKED = `(?:[^\\p{L}\\p{N}_${ENDS}${OPENING}${PUNCTUATION}]|[\\u115f\\u1160\\u3164\\uffa0])`;
const ESCAPED = new RegExp(`(^|[${ENDS}])\\\\(?=${OVERLOOKED}*[${OPENING}](?!\\u2026\\]$))`, "gu");
// Only a line feed ends a line here: the lines that JavaScript knows besides are text.
const HEADER = /(?<![^\n])\[([a-z_]+:[^\s\x1c-\x1f\x85\]]+) ([^\]\n]*)\] /gu;

/**
 * The items of a `context_block`. Only a header that ends in the answer's `nonce` begins an item. An item that is not
 * cut has the text that was stored.
 */
export function parseBlock(block: string, nonce: string): Item[] {
  const found = [...block.matchAll(HEADER)].filter((header) => header[2]?.endsWith(` ${nonce}`));
  return found.map((header, place) => {
    const [whole, handle = "", heading = ""] = header;
    const following = found[place + 1];
    const end = following === undefined ? block.length : following.index - 1;
    const text = block.slice(header.index + whole.length, end).replace(ESCAPED, "$1");
    return { handle, heading: heading.slice(0, -nonce.length - 1), text };
  });
}
