import { addressOf } from "./address.js";
import { Calls } from "./calls/index.js";
import { send, type Fetch, type Settings } from "./connection.js";
import { events, type EventsArgs } from "./events.js";
import type { Args, CallOptions, Operation, Sender } from "./group.js";
import type { Event } from "./models.js";

export interface ScrubjayOptions {
  /** Left out, it is SCRUBJAY_URL. */
  url?: string;
  /** Left out, it is SCRUBJAY_TOKEN. */
  token?: string;
  /** Milliseconds that a call may take with all its tries. Default: 30,000. */
  timeoutMs?: number;
  /** How often a call is tried again when the service is away, full, or cannot be reached. Default: 4. */
  retries?: number;
  /** In place of the runtime's own. */
  fetch?: Fetch;
}

/**
 * A client of the service. A write is tried again under one Idempotency-Key: it happens once.
 */
export class Scrubjay extends Calls {
  private readonly settings: Settings;

  constructor({ url, token, timeoutMs = 30_000, retries = 4, fetch }: ScrubjayOptions = {}) {
    super();
    this.settings = {
      ...addressOf(url, token),
      timeoutMs,
      retries,
      fetch: fetch ?? ((input, init) => globalThis.fetch(input, init)),
    };
  }

  /**
   * This client for one agent, and for one mission: calls fill in what they leave out. Filters of lists stay as they
   * are, and so does what deletes.
   */
  agent(name: string, { mission }: { mission?: string } = {}): Agent {
    return new Agent(this, { agent: name, mission });
  }

  /**
   * What happens from now on, or from after event `after` on; each event once and in order. It does not end by itself:
   * a stream that breaks off is opened again where it was. Leave the loop, or abort the signal, to end it.
   */
  events(args: EventsArgs = {}, { signal }: { signal?: AbortSignal } = {}): AsyncGenerator<Event, void, undefined> {
    return events(this.settings, args, signal);
  }

  override send(operation: Operation, args: Args, options?: CallOptions): Promise<unknown> {
    return send(this.settings, operation, args, options);
  }
}

/** A client for one agent, over the client that made it. */
export class Agent extends Calls {
  constructor(
    private readonly client: Sender,
    private readonly known: { agent: string; mission?: string },
  ) {
    super();
  }

  override send(operation: Operation, args: Args, options?: CallOptions): Promise<unknown> {
    return this.client.send(operation, this.filled(operation, args), options);
  }

  private filled(operation: Operation, args: Args): Args {
    const placed = operation.path.includes("{mission}") ? { mission: args.mission ?? this.known.mission } : {};
    const { each } = operation;
    if (each === undefined) return { ...this.own(operation, args), ...placed };
    const items = args[each] as Args[];
    return { ...args, [each]: items.map((item) => this.own(operation, item)), ...placed };
  }

  /** The fields with those of the agent and the mission that they leave out. */
  private own(operation: Operation, fields: Args): Args {
    const filled: Record<string, unknown> = { ...fields };
    for (const [short, main] of Object.entries(operation.own ?? {})) {
      const known = this.known[short as "agent" | "mission"];
      if (fields[short] === undefined && fields[main] === undefined && known !== undefined) filled[main] = known;
    }
    return filled;
  }
}
