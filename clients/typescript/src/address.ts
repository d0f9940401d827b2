// The service's address: what is wrong with it shows before the first wait.

// How keys begin.
const KEY = "sj_";
const EXAMPLE = "an address looks like http://localhost:8080";

/** The address and the token, given or from the environment. Throws TypeError. */
export function addressOf(url: string | undefined, token: string | undefined): { url: string; token: string } {
  const given = url || environment("SCRUBJAY_URL");
  const secret = token || environment("SCRUBJAY_TOKEN");
  if (!given || !secret) {
    const missing = [given ? "" : "SCRUBJAY_URL", secret ? "" : "SCRUBJAY_TOKEN"].filter(Boolean);
    throw new TypeError(`give url and token, or set ${missing.join(" and ")}`);
  }
  const wrong = mistake(given);
  if (wrong) {
    // Others may read the error.
    const shown = given.includes(KEY) || given.includes("@") ? "" : JSON.stringify(given);
    throw new TypeError(`SCRUBJAY_URL or url=${shown} ${wrong}; ${EXAMPLE}`);
  }
  // A header cannot hold it, and what refuses that would show it.
  if (!/^[\x21-\x7e]+$/.test(secret)) {
    throw new TypeError(
      "SCRUBJAY_TOKEN or token has spaces, control characters or letters beyond ASCII in it; a line's end counts, too",
    );
  }
  return { url: given.replace(/\/+$/, ""), token: secret };
}

function mistake(given: string): string | undefined {
  if (/[\s\p{Cc}]/u.test(given)) return "has spaces or control characters in it";
  if (!/^https?:\/\//i.test(given)) return "does not begin with http:// or https://";
  let url: URL;
  try {
    url = new URL(given);
  } catch {
    return "is not a URL";
  }
  const more = url.username || url.password || url.search || url.hash;
  return more ? "has more than a scheme, a host, a port and a path" : undefined;
}

function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name];
}
