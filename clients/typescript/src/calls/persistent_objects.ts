// Written by `make openapi` from the API's document.

import { Group, type CallOptions, type Operation } from "../group.js";
import type { Pages } from "../pages.js";
import type { ForgottenObject, PersistentAnswer, PersistentObject, PersistentObjects } from "../models.js";

/** What `list` takes. */
export interface PersistentObjectsListArgs {
  /** Whose they are. */
  user_id: string;
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
}

export const LIST: Operation = {
  method: "GET",
  path: "/api/persistent-objects",
  seconds: 2.0,
  repeatable: true,
  query: ["user_id", "cursor", "limit"],
};

/** What `get` takes. */
export interface PersistentObjectsGetArgs {
  /** The id of what is kept for a user. */
  persistent_id: string;
}

export const GET: Operation = {
  method: "GET",
  path: "/api/persistent-objects/{persistent_id}",
  seconds: 2.0,
  repeatable: true,
};

/** What `forget` takes. */
export interface PersistentObjectsForgetArgs {
  /** The id of what is kept for a user. */
  persistent_id: string;
}

export const FORGET: Operation = {
  method: "DELETE",
  path: "/api/persistent-objects/{persistent_id}",
  seconds: 5.0,
  repeatable: false,
};

/** What `reinforce` takes. */
export interface PersistentObjectsReinforceArgs {
  /** The id of what is kept for a user. */
  persistent_id: string;
}

export const REINFORCE: Operation = {
  method: "POST",
  path: "/api/persistent-objects/{persistent_id}/reinforce",
  seconds: 5.0,
  repeatable: true,
  keyed: true,
};

export class PersistentObjectsCalls extends Group {

  /** List what is kept for a user, newest first, with the confidence that is left of each. */
  list(args: PersistentObjectsListArgs, options?: CallOptions): Pages<PersistentObjects, PersistentObject> {
    return this.pages(LIST, args, options);
  }

  /** Get what is kept for a user. */
  get(args: PersistentObjectsGetArgs, options?: CallOptions): Promise<PersistentAnswer> {
    return this.call(GET, args, options);
  }

  /** Erase what is kept for a user. The objects of sessions stay as they are. */
  forget(args: PersistentObjectsForgetArgs, options?: CallOptions): Promise<ForgottenObject> {
    return this.call(FORGET, args, options);
  }

  /** Confirm what is kept for a user: half of the confidence that it lacks comes back, and its time begins anew. */
  reinforce(args: PersistentObjectsReinforceArgs, options?: CallOptions): Promise<PersistentAnswer> {
    return this.call(REINFORCE, args, options);
  }
}
