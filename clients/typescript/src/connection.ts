// How a request goes over fetch: tries, waits and deadlines.

import { ApiError, errorOf, NotReachedError, ScrubjayError, UnknownHostError } from "./errors.js";
import type { Args, CallOptions, Operation } from "./group.js";
import { readAnswer, requestOf, type Request } from "./request.js";
import { VERSION } from "./version.js";

export type Fetch = typeof globalThis.fetch;

// Above the service's own deadline: its refusal says more than a timeout here.
const GRACE_MS = 3_000;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 2_000;
const NEVER_SENT = new Set(["ECONNREFUSED", "EAI_AGAIN", "ENOTFOUND", "UND_ERR_CONNECT_TIMEOUT"]);

export interface Settings {
  url: string;
  token: string;
  /** Milliseconds for a call with all its tries, where it does not say it itself. */
  timeoutMs: number;
  retries: number;
  fetch: Fetch;
}

/** No answer. `sent` is false when the service cannot have seen the request. */
class Lost {
  readonly sent: boolean;
  readonly error: NotReachedError;

  constructor(cause: unknown) {
    const code = codeOf(cause);
    this.sent = !NEVER_SENT.has(code);
    this.error =
      code === "ENOTFOUND"
        ? new UnknownHostError(`the host of url or SCRUBJAY_URL is unknown: ${String(cause)}`, { cause })
        : new NotReachedError(`no answer: ${reasonOf(cause)}`, { cause });
  }
}

interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

export async function send(
  settings: Settings,
  operation: Operation,
  args: Args,
  options: CallOptions = {},
): Promise<unknown> {
  const request = requestOf(operation, args, options);
  const end = Date.now() + (options.timeoutMs ?? settings.timeoutMs);
  for (let tries = 0; ; tries += 1) {
    const got = await attempt(settings, operation, request, Math.max(0, end - Date.now()), options.signal);
    if (!(got instanceof Lost) && got.status < 300) return answered(operation, got);
    const error = got instanceof Lost ? got.error : errorOf(got.status, got.headers, got.text);
    const wait = pause(tries, error);
    if (tries >= settings.retries || !mayRepeat(operation, got) || Date.now() + wait >= end) throw error;
    await sleep(wait, options.signal);
  }
}

async function attempt(
  settings: Settings,
  operation: Operation,
  request: Request,
  leftMs: number,
  signal: AbortSignal | undefined,
): Promise<Answer | Lost> {
  signal?.throwIfAborted();
  const headers = { ...headersOf(settings), ...request.headers };
  const deadline = operation.seconds * 1_000;
  if (leftMs < deadline) headers["x-timeout-ms"] = String(Math.max(1, Math.floor(leftMs)));
  const timer = new Timer(signal);
  timer.start(Math.min(leftMs, deadline) + GRACE_MS);
  try {
    const { method, target, body } = request;
    const response = await settings.fetch(settings.url + target, { method, headers, body, signal: timer.signal });
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch (cause) {
    signal?.throwIfAborted();
    return new Lost(cause);
  } finally {
    timer.stop();
  }
}

/** Aborts after some time, or with another signal. */
export class Timer {
  private readonly controller = new AbortController();
  private readonly follow = () => this.controller.abort(this.given?.reason);
  private timeout: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly given?: AbortSignal) {
    if (given?.aborted) this.follow();
    given?.addEventListener("abort", this.follow);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Begins anew where it had started. */
  start(ms: number): void {
    clearTimeout(this.timeout);
    this.timeout = setTimeout(() => this.controller.abort(new Error(`silent for ${ms} ms`)), ms);
  }

  /** Ends what still runs, too. */
  stop(): void {
    clearTimeout(this.timeout);
    this.given?.removeEventListener("abort", this.follow);
  }

  abort(): void {
    this.stop();
    this.controller.abort();
  }
}

export function headersOf(settings: Settings): Record<string, string> {
  const headers: Record<string, string> = { authorization: `Bearer ${settings.token}` };
  // A page of a browser does not choose its user agent.
  if (!("document" in globalThis)) headers["user-agent"] = `scrubjay-typescript/${VERSION}`;
  return headers;
}

export function failureOf(cause: unknown): NotReachedError {
  return new Lost(cause).error;
}

function answered(operation: Operation, got: Answer): unknown {
  try {
    return readAnswer(got.headers.get("content-type") ?? "", got.text);
  } catch (cause) {
    throw new ScrubjayError(`${operation.method} ${operation.path}: an answer that cannot be read`, { cause });
  }
}

function mayRepeat(operation: Operation, got: Answer | Lost): boolean {
  if (got instanceof Lost) return !(got.error instanceof UnknownHostError) && (operation.repeatable || !got.sent);
  // 408 and 429: nothing was done.
  return [408, 429].includes(got.status) || (operation.repeatable && [502, 503, 504].includes(got.status));
}

/** Milliseconds before the next try: what the service asks for, or twice as long each time; never in step. */
export function pause(tries: number, error: ScrubjayError): number {
  const asked = error instanceof ApiError ? (error.retryAfter ?? 0) * 1_000 : 0;
  return asked + Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** tries) * (0.5 + Math.random() / 2);
}

export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = () => {
      clearTimeout(timeout);
      reject(signal?.reason as Error);
    };
    const timeout = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** The code that Node.js gives an error of the network, or one of its causes. Other runtimes give none. */
function codeOf(error: unknown): string {
  for (let one = error; one instanceof Error; one = one.cause) {
    if ("code" in one && typeof one.code === "string") return one.code;
  }
  return "";
}

function reasonOf(error: unknown): string {
  const inner = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return String(inner);
}
