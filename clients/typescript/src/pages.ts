// Lists: an answer's pages one after the other, and the items in them.

import type { Args, CallOptions, Operation, Sender } from "./group.js";

interface Page {
  data: unknown[];
  next?: string | null;
}

/** Iterates over every item of a list. It asks for a page when the items before are used up. */
export class Pages<A, Item> implements AsyncIterable<Item> {
  constructor(
    private readonly sender: Sender,
    private readonly operation: Operation,
    private readonly args: Args,
    private readonly options?: CallOptions,
  ) {}

  /** The first page alone. */
  page(): Promise<A> {
    return this.sender.send(this.operation, this.args, this.options) as Promise<A>;
  }

  /** The answers, page by page. */
  async *pages(): AsyncGenerator<A, void, undefined> {
    let args = this.args;
    for (;;) {
      const answer = await this.sender.send(this.operation, args, this.options);
      yield answer as A;
      const { next } = answer as Page;
      if (next === null || next === undefined) return;
      args = following(args, next, this.operation);
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const answer of this.pages()) yield* (answer as Page).data as Item[];
  }

  /** Every item, when there are few. */
  async all(): Promise<Item[]> {
    const items: Item[] = [];
    for await (const item of this) items.push(item);
    return items;
  }
}

/** A cursor stands in place of `after`. */
function following(args: Args, cursor: string, operation: Operation): Args {
  return operation.body ? { ...args, cursor } : { ...args, after: undefined, cursor };
}
