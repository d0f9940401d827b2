// Written by `make openapi` from the API's document.

import { Group, type CallOptions, type Operation } from "../group.js";
import type { Pages } from "../pages.js";
import type { FileLines, FilePartAnswer, FoundFiles, Language, LastRun, PutFileResult, RemovedFile, VaultFile, VaultFiles } from "../models.js";

/** What `put` takes. */
export interface VaultPutArgs {
  /**
   * Where the file lies in the vault. Its first folders say whose it is: `agents/<name>/`, `missions/<name>/`,
   * `users/<name>/`, or `shared/`.
   */
  path: string;
  /** The whole file, or a piece of it. That of an HTML file is converted to Markdown. */
  text?: string | null;
  /** Instead of `text`, a file of another format in base64: PDF, office, EPUB. Its text is taken out of it. */
  content?: string | null;
  /** The number of the piece. Pieces come in order; the first one replaces the file. Default: `1`. */
  piece?: number;
  /** How many pieces there are. Default: `1`. */
  pieces?: number;
  /** When the file was last changed. */
  occurred_at?: string | null;
}

export const PUT: Operation = {
  method: "POST",
  path: "/api/vault/files",
  seconds: 30.0,
  repeatable: true,
  body: "json",
  keyed: true,
};

/** What `list` takes. */
export interface VaultListArgs {
  /** Only files whose path begins so. */
  folder?: string;
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
}

export const LIST: Operation = {
  method: "GET",
  path: "/api/vault/files",
  seconds: 2.0,
  repeatable: true,
  query: ["folder", "cursor", "limit"],
};

/** What `remove` takes. */
export interface VaultRemoveArgs {
  /** The path of the file. */
  path: string;
}

export const REMOVE: Operation = {
  method: "DELETE",
  path: "/api/vault/files",
  seconds: 5.0,
  repeatable: true,
  query: ["path"],
  keyed: true,
};

/** What `part` takes. */
export interface VaultPartArgs {
  /** The id of a file's part, as in its handle. */
  file_id: number;
}

export const PART: Operation = {
  method: "GET",
  path: "/api/vault/files/{file_id}",
  seconds: 2.0,
  repeatable: true,
};

export const INDEX: Operation = {
  method: "GET",
  path: "/api/vault/index",
  seconds: 2.0,
  repeatable: true,
};

/** What `read` takes. */
export interface VaultReadArgs {
  /** The path of the file, and the lines to read: `path#L10-L40`. By default, all lines. */
  path: string;
}

export const READ: Operation = {
  method: "GET",
  path: "/api/vault/read",
  seconds: 2.0,
  repeatable: true,
  query: ["path"],
};

/** What `search` takes. */
export interface VaultSearchArgs {
  /** A question, or what is wanted. */
  query: string;
  /** Search this agent's folder and what belongs to no agent, mission or user. */
  agent_name?: string | null;
  /** Search this mission's folder and what belongs to no agent, mission or user. */
  mission_namespace?: string | null;
  /** Search this user's folder and what belongs to no agent, mission or user. */
  user_id?: string | null;
  /** Only files whose path begins so. */
  folder?: string | null;
  /** The language of the query, detected by default. */
  language?: Language | null;
  /** At most this many items. Default: `10`. */
  limit?: number;
  /** Short for `agent_name`, in requests. */
  agent?: string | null;
  /** Short for `mission_namespace`, in requests. */
  mission?: string | null;
}

export const SEARCH: Operation = {
  method: "POST",
  path: "/api/vault/search",
  seconds: 2.0,
  repeatable: true,
  body: "json",
};

export class VaultCalls extends Group {

  /**
   * Store a text file in the vault, where search and assembly find it. The same text again changes nothing. A
   * larger file comes in pieces, in order.
   */
  put(args: VaultPutArgs, options?: CallOptions): Promise<PutFileResult> {
    return this.call(PUT, args, options);
  }

  /** List the files that can be found, by path. */
  list(args: VaultListArgs = {}, options?: CallOptions): Pages<VaultFiles, VaultFile> {
    return this.pages(LIST, args, options);
  }

  /** Remove an uploaded file. One that is indexed from the tenant's folder has to be removed there. */
  remove(args: VaultRemoveArgs, options?: CallOptions): Promise<RemovedFile> {
    return this.call(REMOVE, args, options);
  }

  /** Get the part of a file behind a handle `vault:<id>`. */
  part(args: VaultPartArgs, options?: CallOptions): Promise<FilePartAnswer> {
    return this.call(PART, args, options);
  }

  /** How far the last run over the tenant's folder is, and which files it refused, each with the reason. */
  index(args: Record<string, never> = {}, options?: CallOptions): Promise<LastRun> {
    return this.call(INDEX, args, options);
  }

  /** Read lines of a file: as they are indexed, or else from the tenant's folder. */
  read(args: VaultReadArgs, options?: CallOptions): Promise<FileLines> {
    return this.call(READ, args, options);
  }

  /** Search the files that the key may read. Answers the best passage of each, the most relevant first. */
  search(args: VaultSearchArgs, options?: CallOptions): Promise<FoundFiles> {
    return this.call(SEARCH, args, options);
  }
}
