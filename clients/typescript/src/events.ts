// The timeline as a stream: server-sent events, as the HTML standard reads them, and how a broken stream goes on.

import { Timer, failureOf, headersOf, pause, sleep, type Settings } from "./connection.js";
import { ApiError, errorOf, ScrubjayError, UnknownHostError } from "./errors.js";
import type { Event } from "./models.js";

const PATH = "/api/timeline";
// The service speaks every 15 s; a stream that is silent for longer is dead.
const SILENCE_MS = 40_000;
const RETRY_MS = 1_000;
const PASSING = new Set([429, 502, 503, 504]);

export interface EventsArgs {
  /** Of this mission only. */
  mission?: string;
  /** Of this kind only. */
  kind?: string;
  /** Of this dispatch only. */
  dispatch_id?: number;
  /** Begin after the event with this `seq`; else with what happens from now on. */
  after?: number;
}

/** Text in, events out. `last` is where a stream that breaks off goes on, `retryMs` when. */
export class Reader {
  retryMs = RETRY_MS;
  private id: number | undefined;
  private data: string[] = [];
  private rest = "";

  constructor(public last?: number) {
    this.id = last;
  }

  *feed(text: string): Generator<Event, void, undefined> {
    const lines = (this.rest + text).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? "";
    for (const line of lines) {
      const event = this.take(line);
      if (event !== undefined) yield event;
    }
  }

  /** What was begun does not count: it comes again. */
  broken(): void {
    this.id = this.last;
    this.data = [];
    this.rest = "";
  }

  private take(line: string): Event | undefined {
    if (line !== "") {
      this.field(line);
      return undefined;
    }
    // An id counts once its event is whole.
    this.last = this.id;
    const data = this.data;
    this.data = [];
    return data.length > 0 ? (JSON.parse(data.join("\n")) as Event) : undefined;
  }

  private field(line: string): void {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") this.data.push(value);
    else if (name === "id" && /^\d+$/.test(value)) this.id = Number(value);
    else if (name === "retry" && /^\d+$/.test(value)) this.retryMs = Number(value);
  }
}

/** How long to wait before a stream is opened again. */
class Patience {
  private failures = 0;
  private everOpened = false;

  constructor(private readonly retries: number) {}

  opened(): void {
    this.everOpened = true;
    this.failures = 0;
  }

  /** Throws `error` where coming back does not help. */
  after(error: ScrubjayError | undefined, reader: Reader): number {
    if (error === undefined) return reader.retryMs;
    if (error instanceof ApiError && !PASSING.has(error.status)) throw error;
    if (!this.everOpened && (error instanceof UnknownHostError || this.failures >= this.retries)) throw error;
    this.failures += 1;
    return Math.max(reader.retryMs, pause(this.failures, error));
  }
}

export async function* events(
  settings: Settings,
  args: EventsArgs,
  signal?: AbortSignal,
): AsyncGenerator<Event, void, undefined> {
  const { after, ...wanted } = args;
  const reader = new Reader(after);
  const patience = new Patience(settings.retries);
  for (;;) {
    let failed: ScrubjayError | undefined;
    const timer = new Timer(signal);
    try {
      const response = await open(settings, wanted, reader, timer);
      if (response.status === 200) {
        patience.opened();
        yield* read(response, reader, timer);
      } else {
        failed = errorOf(response.status, response.headers, await response.text());
      }
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      failed = failureOf(cause);
    } finally {
      // Also when the caller leaves the loop: the connection closes.
      timer.abort();
    }
    reader.broken();
    await sleep(patience.after(failed, reader), signal);
  }
}

function open(settings: Settings, wanted: EventsArgs, reader: Reader, timer: Timer): Promise<Response> {
  const given = Object.entries(wanted).filter(([, value]) => value !== undefined && value !== null);
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  const headers: Record<string, string> = { ...headersOf(settings), accept: "text/event-stream" };
  if (reader.last !== undefined) headers["last-event-id"] = String(reader.last);
  timer.start(SILENCE_MS);
  return settings.fetch(`${settings.url}${PATH}?${query.toString()}`, { headers, signal: timer.signal });
}

async function* read(response: Response, reader: Reader, timer: Timer): AsyncGenerator<Event, void, undefined> {
  const body = response.body?.getReader();
  const decoder = new TextDecoder();
  for (;;) {
    timer.start(SILENCE_MS);
    const piece = await body?.read();
    if (piece === undefined || piece.done) return;
    yield* reader.feed(decoder.decode(piece.value, { stream: true }));
  }
}
