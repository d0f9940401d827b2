// Written by `make openapi` from the API's document.

import { Group, type CallOptions, type Operation } from "../group.js";
import type { Pages } from "../pages.js";
import type { Deliveries, Delivery, MadeWebhook, Redelivered, Tested, Webhook, Webhooks } from "../models.js";

/** What `make` takes. */
export interface WebhooksMakeArgs {
  /** Where events go: `https://…`, with a name or a public address. */
  url: string;
  /** Only events of these kinds, such as cache_write. */
  kinds?: readonly string[] | null;
  /** Only these missions' events. */
  missions?: readonly string[] | null;
  /** Only these agents' events. */
  agents?: readonly string[] | null;
  /** What it is for, in your own words. */
  description?: string | null;
  /** The number of the event after which it begins; else only later events are sent. */
  after?: number | null;
}

export const MAKE: Operation = {
  method: "POST",
  path: "/api/webhooks",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  keyed: true,
};

/** What `list` takes. */
export interface WebhooksListArgs {
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
}

export const LIST: Operation = {
  method: "GET",
  path: "/api/webhooks",
  seconds: 5.0,
  repeatable: false,
  query: ["cursor", "limit"],
};

/** What `get` takes. */
export interface WebhooksGetArgs {
  /** The id of a webhook. */
  webhook_id: number;
}

export const GET: Operation = {
  method: "GET",
  path: "/api/webhooks/{webhook_id}",
  seconds: 5.0,
  repeatable: false,
};

/** What `change` takes. */
export interface WebhooksChangeArgs {
  /** The id of a webhook. */
  webhook_id: number;
  /** Where events go from now on, those that wait too. */
  url?: string;
  /** Only events of these kinds. */
  kinds?: readonly string[] | null;
  /** The missions that it may touch; null: all. */
  missions?: readonly string[] | null;
  /** Only these agents' events. */
  agents?: readonly string[] | null;
  /** What it is for, in your own words. */
  description?: string | null;
  /**
   * `paused` keeps what happens meanwhile for later. The key that says `active` answers for the webhook from now
   * on.
   */
  status?: "active" | "paused";
}

export const CHANGE: Operation = {
  method: "PATCH",
  path: "/api/webhooks/{webhook_id}",
  seconds: 5.0,
  repeatable: true,
  body: "json",
};

/** What `delete` takes. */
export interface WebhooksDeleteArgs {
  /** The id of a webhook. */
  webhook_id: number;
}

export const DELETE: Operation = {
  method: "DELETE",
  path: "/api/webhooks/{webhook_id}",
  seconds: 60.0,
  repeatable: false,
};

/** What `deliveries` takes. */
export interface WebhooksDeliveriesArgs {
  /** The id of a webhook. */
  webhook_id: number;
  /** Only these; `dead` are the dead letters. */
  status?: "dead" | "delivered" | "erased" | "waiting";
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
}

export const DELIVERIES: Operation = {
  method: "GET",
  path: "/api/webhooks/{webhook_id}/deliveries",
  seconds: 5.0,
  repeatable: false,
  query: ["status", "cursor", "limit"],
};

/** What `redeliver` takes. */
export interface WebhooksRedeliverArgs {
  /** The id of a webhook. */
  webhook_id: number;
  /** The event's number. Without one, all dead letters are sent again, a thousand at a time. */
  seq?: number | string | null;
}

export const REDELIVER: Operation = {
  method: "POST",
  path: "/api/webhooks/{webhook_id}/redeliver",
  seconds: 5.0,
  repeatable: false,
  body: "json",
};

/** What `rotate` takes. */
export interface WebhooksRotateArgs {
  /** The id of a webhook. */
  webhook_id: number;
  /** How long messages carry a signature of the current secret beside one of the new. Default: `86400`. */
  overlap_seconds?: number;
}

export const ROTATE: Operation = {
  method: "POST",
  path: "/api/webhooks/{webhook_id}/rotate",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  keyed: true,
};

/** What `sendTest` takes. */
export interface WebhooksSendTestArgs {
  /** The id of a webhook. */
  webhook_id: number;
}

export const SEND_TEST: Operation = {
  method: "POST",
  path: "/api/webhooks/{webhook_id}/test",
  seconds: 15.0,
  repeatable: false,
};

export class WebhooksCalls extends Group {

  /**
   * Send events to a URL, each at least once: those that the timeline shows this key, as far as they are wanted.
   * The secret that signs them is in this answer only. The webhook pauses when the key is revoked or expires.
   */
  make(args: WebhooksMakeArgs, options?: CallOptions): Promise<MadeWebhook> {
    return this.call(MAKE, args, options);
  }

  /** List the tenant's webhooks, but never a secret. */
  list(args: WebhooksListArgs = {}, options?: CallOptions): Pages<Webhooks, Webhook> {
    return this.pages(LIST, args, options);
  }

  /** Get a webhook: whether it sends, and how many events wait. */
  get(args: WebhooksGetArgs, options?: CallOptions): Promise<Webhook> {
    return this.call(GET, args, options);
  }

  /** Change where events go and which, or pause and resume. Filters hold for events that it has not looked at. */
  change(args: WebhooksChangeArgs, options?: CallOptions): Promise<Webhook> {
    return this.call(CHANGE, args, options);
  }

  /** Delete a webhook with what waits to be sent, and with what is known of its deliveries. */
  delete(args: WebhooksDeleteArgs, options?: CallOptions): Promise<void> {
    return this.call(DELETE, args, options);
  }

  /** List what waits, what was delivered in the last 7 days, and the dead letters of 30 days. */
  deliveries(args: WebhooksDeliveriesArgs, options?: CallOptions): Pages<Deliveries, Delivery> {
    return this.pages(DELIVERIES, args, options);
  }

  /** Send an event again, or all dead letters. They come after later events that were delivered meanwhile. */
  redeliver(args: WebhooksRedeliverArgs, options?: CallOptions): Promise<Redelivered> {
    return this.call(REDELIVER, args, options);
  }

  /** Make a new secret. Messages carry signatures of both during the overlap; an older secret ends now. */
  rotate(args: WebhooksRotateArgs, options?: CallOptions): Promise<MadeWebhook> {
    return this.call(ROTATE, args, options);
  }

  /** Send a message of the kind webhook_test now, once, and tell what the receiver answered. */
  sendTest(args: WebhooksSendTestArgs, options?: CallOptions): Promise<Tested> {
    return this.call(SEND_TEST, args, options);
  }
}
