// What generated calls stand on.

import { Pages } from "./pages.js";

export interface CallOptions {
  /** Milliseconds for the call with all its tries. */
  timeoutMs?: number;
  /** Gives the call up. It rejects with the signal's reason. */
  signal?: AbortSignal;
  /** A write under one key happens once; else the client makes one up. Calls that take no key ignore it. */
  idempotencyKey?: string;
}

/** How a call is sent. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  /** The service's own deadline for it. */
  readonly seconds: number;
  /** It may be sent again when nobody knows whether it was done. */
  readonly repeatable: boolean;
  /** The arguments that go into the query. Those that are named in the path go there, and the others into the body. */
  readonly query?: readonly string[];
  readonly body?: "json" | "lines";
  /** The body's fields for the agent and the mission, which a client for one agent fills in. */
  readonly own?: Readonly<Record<string, string>>;
  /** The body's list whose items have these fields, where the body itself has not. */
  readonly each?: string;
  /** What stands in the path in place of a mission, where that may be left out. */
  readonly withoutMission?: string;
  readonly keyed?: boolean;
}

export type Args = Readonly<Record<string, unknown>>;

export interface Sender {
  send(operation: Operation, args: Args, options?: CallOptions): Promise<unknown>;
}

/** Has calls as methods. */
export abstract class Root implements Sender {
  abstract send(operation: Operation, args: Args, options?: CallOptions): Promise<unknown>;

  protected call<T>(operation: Operation, args: object, options?: CallOptions): Promise<T> {
    return this.send(operation, args as Args, options) as Promise<T>;
  }

  protected pages<A, Item>(operation: Operation, args: object, options?: CallOptions): Pages<A, Item> {
    return new Pages(this, operation, args as Args, options);
  }
}

/** Calls of one area. */
export class Group extends Root {
  constructor(private readonly sender: Sender) {
    super();
  }

  override send(operation: Operation, args: Args, options?: CallOptions): Promise<unknown> {
    return this.sender.send(operation, args, options);
  }
}
