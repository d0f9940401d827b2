// A call's arguments as a request.

import type { Args, CallOptions, Operation } from "./group.js";

const JSON_TYPE = "application/json";
const LINES_TYPE = "application/x-ndjson";

export interface Request {
  method: string;
  /** The path with its query. */
  target: string;
  headers: Record<string, string>;
  body?: string;
}

export function requestOf(operation: Operation, args: Args, options: CallOptions): Request {
  const left = new Map(Object.entries(args).filter(([, value]) => value !== undefined));
  const path = pathOf(operation, left);
  const query = queryOf(operation, left);
  const request: Request = {
    method: operation.method,
    target: query ? `${path}?${query}` : path,
    headers: { accept: `${JSON_TYPE}, ${LINES_TYPE}` },
  };
  if (operation.keyed) request.headers["idempotency-key"] = options.idempotencyKey ?? newKey();
  if (operation.body === "lines") {
    request.headers["content-type"] = LINES_TYPE;
    const lines = (left.get("lines") ?? []) as Iterable<unknown>;
    request.body = Array.from(lines, (line) => `${JSON.stringify(line)}\n`).join("");
  } else if (operation.body === "json") {
    request.headers["content-type"] = JSON_TYPE;
    request.body = JSON.stringify(Object.fromEntries(left));
  } else if (left.size > 0) {
    throw new TypeError(`${operation.method} ${operation.path} takes no ${[...left.keys()].join(", ")}`);
  }
  return request;
}

/** Pages that came without TLS have no `randomUUID`. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Takes what the path names out of what is left. */
function pathOf(operation: Operation, left: Map<string, unknown>): string {
  return operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = left.get(name) ?? (name === "mission" ? operation.withoutMission : undefined);
    left.delete(name);
    if (value !== undefined && value !== null && value !== "") return encodeURIComponent(String(value));
    const hint = name === "mission" ? ", or bind the client to one: client.agent(name, { mission })" : "";
    throw new TypeError(`${operation.method} ${operation.path}: name the ${name}${hint}`);
  });
}

function queryOf(operation: Operation, left: Map<string, unknown>): string {
  const query = new URLSearchParams();
  for (const name of operation.query ?? []) {
    const value = left.get(name);
    left.delete(name);
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null) query.append(name, String(one));
    }
  }
  return query.toString();
}

/** What an answer's body holds. */
export function readAnswer(type: string, text: string): unknown {
  if (!type.startsWith(LINES_TYPE)) return text === "" ? undefined : JSON.parse(text);
  return text.split("\n").filter((line) => line.trim() !== "").map((line) => JSON.parse(line) as unknown);
}
