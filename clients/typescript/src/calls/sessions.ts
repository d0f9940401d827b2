// Written by `make openapi` from the API's document.

import { Group, type CallOptions, type Operation } from "../group.js";
import type { Pages } from "../pages.js";
import type { AdmissionScore, Admissions, AdmitInput, AdmittedObjects, Appended, Compaction, Conversation, CreatedSession, DeletedSession, Fault, Faults, FoundObjects, GoalSet, History, KeptObject, Language, ListedObject, ListedObjects, MessageInput, MicroFault, NumberedAnswer, ObjectAnswer, Pressure, Rebuilt, Related, Relationship, Relationships, Reset, Restored, Session, SessionAnswer, SessionConfig, SessionContext, Sessions, TrailEvent, Transition, Transitions, TurnEnded, Unrelated } from "../models.js";

/** What `sessionCreate` takes. */
export interface SessionsSessionCreateArgs {
  /** The host's own name for it, unique in the tenant. Every path takes it in place of the id. */
  external_id?: string | null;
  /** The agent whose session it is. */
  agent_name?: string | null;
  /** The mission it works on. A purge of the mission erases it. */
  mission_id?: string | null;
  /** The user it is with. A purge of the user erases it. */
  user_id?: string | null;
  /** The model that the agent runs on. */
  model?: string | null;
  /** Its limits. */
  config?: SessionConfig;
  /** Short for `agent_name`, in requests. */
  agent?: string | null;
  /** Short for `mission_id`, in requests. */
  mission?: string | null;
}

export const SESSION_CREATE: Operation = {
  method: "POST",
  path: "/api/sessions",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  own: {"agent": "agent_name", "mission": "mission_id"},
  keyed: true,
};

/** What `sessionList` takes. */
export interface SessionsSessionListArgs {
  /** Of this agent only. */
  agent_name?: string;
  /** The mission's name. */
  mission_id?: string;
  /** Only sessions with this user. */
  user_id?: string;
  /** Of this status only. */
  status?: "abandoned" | "active" | "completed";
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
  /** Short for `agent_name`, in requests. */
  agent?: string;
  /** Short for `mission_id`, in requests. */
  mission?: string;
}

export const SESSION_LIST: Operation = {
  method: "GET",
  path: "/api/sessions",
  seconds: 2.0,
  repeatable: true,
  query: ["agent_name", "mission_id", "user_id", "status", "cursor", "limit", "agent", "mission"],
};

/** What `sessionNumberedObject` takes. */
export interface SessionsSessionNumberedObjectArgs {
  /** The number of a handle `object:<number>`. */
  number: number;
}

export const SESSION_NUMBERED_OBJECT: Operation = {
  method: "GET",
  path: "/api/sessions/all/objects/{number}",
  seconds: 2.0,
  repeatable: true,
};

/** What `sessionReset` takes. */
export interface SessionsSessionResetArgs {
  /** A session, by its id or its external id. */
  session_id?: string | null;
  /** The active sessions of this agent. */
  agent_name?: string | null;
  /** Every active session that the key may change. Default: `false`. */
  all?: boolean;
  /** Learn from them soon afterwards, as `/api/memory/consolidate` does. Default: `false`. */
  consolidate?: boolean;
  /** Short for `agent_name`, in requests. */
  agent?: string | null;
}

export const SESSION_RESET: Operation = {
  method: "POST",
  path: "/api/sessions/reset",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  keyed: true,
};

/** What `sessionGet` takes. */
export interface SessionsSessionGetArgs {
  /** The session's name. */
  session_id: string;
}

export const SESSION_GET: Operation = {
  method: "GET",
  path: "/api/sessions/{session_id}",
  seconds: 2.0,
  repeatable: true,
};

/** What `sessionDelete` takes. */
export interface SessionsSessionDeleteArgs {
  /** The session's name. */
  session_id: string;
}

export const SESSION_DELETE: Operation = {
  method: "DELETE",
  path: "/api/sessions/{session_id}",
  seconds: 5.0,
  repeatable: false,
};

/** What `sessionAdmissions` takes. */
export interface SessionsSessionAdmissionsArgs {
  /** The session's name. */
  session_id: string;
  /** Only of this object. */
  object_id?: string;
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
}

export const SESSION_ADMISSIONS: Operation = {
  method: "GET",
  path: "/api/sessions/{session_id}/admissions",
  seconds: 2.0,
  repeatable: true,
  query: ["object_id", "cursor", "limit"],
};

/** What `sessionCompact` takes. */
export interface SessionsSessionCompactArgs {
  /** The session's name. */
  session_id: string;
  /** What to say in their place. By default the service extracts the first sentences of each message. */
  summary?: string | null;
  /** Summarise up to this event, which `summary` was written for; by default the oldest two thirds. */
  through?: number | null;
  /** Also when no compaction is due. Default: `false`. */
  force?: boolean;
}

export const SESSION_COMPACT: Operation = {
  method: "POST",
  path: "/api/sessions/{session_id}/compact",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  keyed: true,
};

/** What `sessionComplete` takes. */
export interface SessionsSessionCompleteArgs {
  /** The session's name. */
  session_id: string;
  /** `abandoned`: it ended without an end. Default: `"completed"`. */
  status?: "abandoned" | "completed";
  /** Learn from it soon afterwards, as `/api/memory/consolidate` does. Default: `false`. */
  consolidate?: boolean;
}

export const SESSION_COMPLETE: Operation = {
  method: "POST",
  path: "/api/sessions/{session_id}/complete",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  keyed: true,
};

/** What `sessionContext` takes. */
export interface SessionsSessionContextArgs {
  /** The session's name. */
  session_id: string;
}

export const SESSION_CONTEXT: Operation = {
  method: "GET",
  path: "/api/sessions/{session_id}/context",
  seconds: 2.0,
  repeatable: true,
};

/** What `sessionConversation` takes. */
export interface SessionsSessionConversationArgs {
  /** The session's name. */
  session_id: string;
}

export const SESSION_CONVERSATION: Operation = {
  method: "GET",
  path: "/api/sessions/{session_id}/conversation",
  seconds: 2.0,
  repeatable: true,
};

/** What `sessionAppend` takes. */
export interface SessionsSessionAppendArgs {
  /** The session's name. */
  session_id: string;
  /** They get the next numbers of the session's trail. */
  messages: readonly MessageInput[];
}

export const SESSION_APPEND: Operation = {
  method: "POST",
  path: "/api/sessions/{session_id}/events",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  keyed: true,
};

/** What `sessionFaults` takes. */
export interface SessionsSessionFaultsArgs {
  /** The session's name. */
  session_id: string;
  /** Only of this object. */
  object_id?: string;
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
}

export const SESSION_FAULTS: Operation = {
  method: "GET",
  path: "/api/sessions/{session_id}/faults",
  seconds: 2.0,
  repeatable: true,
  query: ["object_id", "cursor", "limit"],
};

/** What `sessionGoal` takes. */
export interface SessionsSessionGoalArgs {
  /** The session's name. */
  session_id: string;
  /** What the agent works towards now; none ends the goal. */
  goal?: string | null;
}

export const SESSION_GOAL: Operation = {
  method: "POST",
  path: "/api/sessions/{session_id}/goal",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  keyed: true,
};

/** What `sessionHistory` takes. */
export interface SessionsSessionHistoryArgs {
  /** The session's name. */
  session_id: string;
  /** With the calls of tools and their results. */
  full?: boolean;
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
}

export const SESSION_HISTORY: Operation = {
  method: "GET",
  path: "/api/sessions/{session_id}/history",
  seconds: 2.0,
  repeatable: true,
  query: ["full", "cursor", "limit"],
};

/** What `sessionAdmit` takes. */
export interface SessionsSessionAdmitArgs {
  /** The session's name. */
  session_id: string;
  /**
   * All of it. It becomes one object for each function, class, section, hunk or value; a fault brings back
   * exactly its part.
   */
  content: string;
  /** What kind of thing it is. */
  object_type: "conversation_phase" | "debugging_session" | "design_decision" | "error_context" | "external_reference" | "file_context" | "plan" | "tool_result";
  /** The tool that it comes from, such as Read. */
  source_tool?: string | null;
  /**
   * What it is a version of, such as the path of a file: another content of the same key supersedes it. The name
   * of a file also tells its language.
   */
  source_key?: string | null;
  /**
   * Whether it is a part of its source, such as some lines of a file. `true`: lines that an object of the source
   * holds bring it back, others become new objects, and what the part lacks stays as it is. `false`: it is all
   * of the source, and a stub is left of what it lacks. By default, content that stands in objects of the source
   * as it is counts as a part, and any other as all of it.
   */
  partial?: boolean | null;
  /** When the agent will need it whole again. */
  fault_when?: readonly string[];
  /** Words to find it by, and to narrow a search to. */
  tags?: readonly string[];
  /** The first turn it is from. */
  source_turn_start?: number | null;
  /** The last turn it is from. */
  source_turn_end?: number | null;
}

export const SESSION_ADMIT: Operation = {
  method: "POST",
  path: "/api/sessions/{session_id}/objects",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  keyed: true,
};

/** What `sessionObjects` takes. */
export interface SessionsSessionObjectsArgs {
  /** The session's name. */
  session_id: string;
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
}

export const SESSION_OBJECTS: Operation = {
  method: "GET",
  path: "/api/sessions/{session_id}/objects",
  seconds: 2.0,
  repeatable: true,
  query: ["cursor", "limit"],
};

/** What `sessionObject` takes. */
export interface SessionsSessionObjectArgs {
  /** The session's name. */
  session_id: string;
  /** The id of an object of the session. */
  object_id: string;
  /** How much of it `content` holds: 0 all, 1 and 2 its summaries, 3 one line. */
  fidelity?: number;
}

export const SESSION_OBJECT: Operation = {
  method: "GET",
  path: "/api/sessions/{session_id}/objects/{object_id}",
  seconds: 2.0,
  repeatable: true,
  query: ["fidelity"],
};

/** What `sessionFault` takes. */
export interface SessionsSessionFaultArgs {
  /** The session's name. */
  session_id: string;
  /** The id of an object of the session. */
  object_id: string;
  /** `entropy_triggered`: the host's model was uncertain without it. Default: `"full_restore"`. */
  fault_type?: "entropy_triggered" | "full_restore";
}

export const SESSION_FAULT: Operation = {
  method: "POST",
  path: "/api/sessions/{session_id}/objects/{object_id}/fault",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  keyed: true,
};

/** What `sessionPersist` takes. */
export interface SessionsSessionPersistArgs {
  /** The session's name. */
  session_id: string;
  /** The id of an object of the session. */
  object_id: string;
  /** What of it is worth keeping, in the agent's own words. When left out, the object is kept whole. */
  content?: string | null;
}

export const SESSION_PERSIST: Operation = {
  method: "POST",
  path: "/api/sessions/{session_id}/objects/{object_id}/persist",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  keyed: true,
};

/** What `sessionPin` takes. */
export interface SessionsSessionPinArgs {
  /** The session's name. */
  session_id: string;
  /** The id of an object of the session. */
  object_id: string;
  /** Why it must stay. */
  reason?: string | null;
  /** For so many turns; by default until it is unpinned. */
  turns?: number | null;
}

export const SESSION_PIN: Operation = {
  method: "POST",
  path: "/api/sessions/{session_id}/objects/{object_id}/pin",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  keyed: true,
};

/** What `sessionRelease` takes. */
export interface SessionsSessionReleaseArgs {
  /** The session's name. */
  session_id: string;
  /** The id of an object of the session. */
  object_id: string;
  /**
   * What to leave of it: 1 and 2 a summary, 3 a line, 4 nothing. Without such a summary, a line is left.
   * Default: `3`.
   */
  fidelity?: number;
}

export const SESSION_RELEASE: Operation = {
  method: "POST",
  path: "/api/sessions/{session_id}/objects/{object_id}/release",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  keyed: true,
};

/** What `sessionUnpin` takes. */
export interface SessionsSessionUnpinArgs {
  /** The session's name. */
  session_id: string;
  /** The id of an object of the session. */
  object_id: string;
}

export const SESSION_UNPIN: Operation = {
  method: "POST",
  path: "/api/sessions/{session_id}/objects/{object_id}/unpin",
  seconds: 5.0,
  repeatable: true,
  keyed: true,
};

/** What `sessionPressure` takes. */
export interface SessionsSessionPressureArgs {
  /** The session's name. */
  session_id: string;
}

export const SESSION_PRESSURE: Operation = {
  method: "GET",
  path: "/api/sessions/{session_id}/pressure",
  seconds: 2.0,
  repeatable: true,
};

/** What `sessionQuery` takes. */
export interface SessionsSessionQueryArgs {
  /** The session's name. */
  session_id: string;
  /** Names as they are written in the text help most: of functions, files, errors. */
  question: string;
  /** Ask this object only. */
  object_id?: string | null;
}

export const SESSION_QUERY: Operation = {
  method: "POST",
  path: "/api/sessions/{session_id}/query",
  seconds: 2.0,
  repeatable: true,
  body: "json",
};

/** What `sessionRebuild` takes. */
export interface SessionsSessionRebuildArgs {
  /** The session's name. */
  session_id: string;
}

export const SESSION_REBUILD: Operation = {
  method: "POST",
  path: "/api/sessions/{session_id}/rebuild",
  seconds: 5.0,
  repeatable: false,
};

/** What `sessionRelate` takes. */
export interface SessionsSessionRelateArgs {
  /** The session's name. */
  session_id: string;
  /** The object that depends, refers, or was caused. */
  source_id: string;
  /** The object that it depends on, refers to, or was caused by. */
  target_id: string;
  /**
   * What the source depends on, refers to or was caused by comes up with it. The service itself states
   * `parent_of`, of a heading and what stands below it, and `supersedes`, of versions.
   */
  relationship: "caused_by" | "depends_on" | "parent_of" | "references" | "supersedes";
  /** Whatever the host wants to know of it later. */
  metadata?: Record<string, string>;
}

export const SESSION_RELATE: Operation = {
  method: "POST",
  path: "/api/sessions/{session_id}/relationships",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  keyed: true,
};

/** What `sessionRelationships` takes. */
export interface SessionsSessionRelationshipsArgs {
  /** The session's name. */
  session_id: string;
  /** Only of this kind. */
  relationship?: "caused_by" | "depends_on" | "parent_of" | "references" | "supersedes";
  /** Only those of this object. */
  object_id?: string;
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
}

export const SESSION_RELATIONSHIPS: Operation = {
  method: "GET",
  path: "/api/sessions/{session_id}/relationships",
  seconds: 2.0,
  repeatable: true,
  query: ["relationship", "object_id", "cursor", "limit"],
};

/** What `sessionUnrelate` takes. */
export interface SessionsSessionUnrelateArgs {
  /** The session's name. */
  session_id: string;
  /** The id of a relationship of the session. */
  relationship_id: string;
}

export const SESSION_UNRELATE: Operation = {
  method: "DELETE",
  path: "/api/sessions/{session_id}/relationships/{relationship_id}",
  seconds: 5.0,
  repeatable: false,
};

/** What `sessionSearch` takes. */
export interface SessionsSessionSearchArgs {
  /** The session's name. */
  session_id: string;
  /** A question, or what is wanted. */
  query: string;
  /** Also find what the context no longer shows. Default: `true`. */
  evicted?: boolean;
  /** Also find older versions, behind everything else. Default: `false`. */
  superseded?: boolean;
  /** The language of the query, detected by default. */
  language?: Language | null;
  /** At most this many items. Default: `10`. */
  limit?: number;
}

export const SESSION_SEARCH: Operation = {
  method: "POST",
  path: "/api/sessions/{session_id}/search",
  seconds: 2.0,
  repeatable: true,
  body: "json",
};

/** What `sessionTransitions` takes. */
export interface SessionsSessionTransitionsArgs {
  /** The session's name. */
  session_id: string;
  /** Only of this object. */
  object_id?: string;
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
}

export const SESSION_TRANSITIONS: Operation = {
  method: "GET",
  path: "/api/sessions/{session_id}/transitions",
  seconds: 2.0,
  repeatable: true,
  query: ["object_id", "cursor", "limit"],
};

/** What `sessionTurn` takes. */
export interface SessionsSessionTurnArgs {
  /** The session's name. */
  session_id: string;
  /** Objects that the turn used: they stay whole for longer. */
  accessed?: readonly string[];
  /** Objects that the agent no longer needs: a line of each is left. */
  released?: readonly string[];
  /** What came in since, such as the results of tools: the next turn begins with it, after a batch of this one. */
  admit?: readonly AdmitInput[];
  /** Whether the answer holds the context with which the next turn begins. Default: `false`. */
  context?: boolean;
}

export const SESSION_TURN: Operation = {
  method: "POST",
  path: "/api/sessions/{session_id}/turns",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  keyed: true,
};

export class SessionsCalls extends Group {

  /** Begin a session, or resume the one with the same `external_id`, agent, mission and user. */
  sessionCreate(args: SessionsSessionCreateArgs = {}, options?: CallOptions): Promise<CreatedSession> {
    return this.call(SESSION_CREATE, args, options);
  }

  /** List sessions, newest first. A key that is bound to an agent or to missions sees only their sessions. */
  sessionList(args: SessionsSessionListArgs = {}, options?: CallOptions): Pages<Sessions, Session> {
    return this.pages(SESSION_LIST, args, options);
  }

  /** Get all of an object by the number in its handle, `object:<number>`. This is no fault: its fidelity stays. */
  sessionNumberedObject(args: SessionsSessionNumberedObjectArgs, options?: CallOptions): Promise<NumberedAnswer> {
    return this.call(SESSION_NUMBERED_OBJECT, args, options);
  }

  /** Begin conversations anew: of one session, of an agent's sessions, or of all. Their trails keep everything. */
  sessionReset(args: SessionsSessionResetArgs = {}, options?: CallOptions): Promise<Reset> {
    return this.call(SESSION_RESET, args, options);
  }

  /** Get a session by its id or its external id. */
  sessionGet(args: SessionsSessionGetArgs, options?: CallOptions): Promise<SessionAnswer> {
    return this.call(SESSION_GET, args, options);
  }

  /** Erase a session with its trail, its objects and their faults. The timeline and costs forget its name. */
  sessionDelete(args: SessionsSessionDeleteArgs, options?: CallOptions): Promise<DeletedSession> {
    return this.call(SESSION_DELETE, args, options);
  }

  /** List what was admitted or rejected, in order, with the parts of each score. */
  sessionAdmissions(args: SessionsSessionAdmissionsArgs, options?: CallOptions): Pages<Admissions, AdmissionScore> {
    return this.pages(SESSION_ADMISSIONS, args, options);
  }

  /** Put a summary in the place of the oldest two thirds of the conversation. Does nothing when none is due. */
  sessionCompact(args: SessionsSessionCompactArgs, options?: CallOptions): Promise<Compaction> {
    return this.call(SESSION_COMPACT, args, options);
  }

  /** Close a session. It can still be read, searched and asked, but takes no more events, objects or turns. */
  sessionComplete(args: SessionsSessionCompleteArgs, options?: CallOptions): Promise<SessionAnswer> {
    return this.call(SESSION_COMPLETE, args, options);
  }

  /**
   * The context of a session as one block. Between batches it only grows at its end, which keeps a prompt's
   * cache.
   */
  sessionContext(args: SessionsSessionContextArgs, options?: CallOptions): Promise<SessionContext> {
    return this.call(SESSION_CONTEXT, args, options);
  }

  /** Resume a session: its messages since the last reset, and the summary of what compactions took out. */
  sessionConversation(args: SessionsSessionConversationArgs, options?: CallOptions): Promise<Conversation> {
    return this.call(SESSION_CONVERSATION, args, options);
  }

  /**
   * Add messages to the trail of a session: what was said, calls of tools, and their results. The order of
   * arrival is their order. The bytes of images are not stored.
   */
  sessionAppend(args: SessionsSessionAppendArgs, options?: CallOptions): Promise<Appended> {
    return this.call(SESSION_APPEND, args, options);
  }

  /** List what was brought back and what was asked, in order. */
  sessionFaults(args: SessionsSessionFaultsArgs, options?: CallOptions): Pages<Faults, Fault> {
    return this.pages(SESSION_FAULTS, args, options);
  }

  /**
   * Say what the agent works towards. What the session holds about it comes up as far as there is room, and
   * stays.
   */
  sessionGoal(args: SessionsSessionGoalArgs, options?: CallOptions): Promise<GoalSet> {
    return this.call(SESSION_GOAL, args, options);
  }

  /** Read everything that happened in a session, in order, also what a compaction or a reset took out. */
  sessionHistory(args: SessionsSessionHistoryArgs, options?: CallOptions): Pages<History, TrailEvent> {
    return this.pages(SESSION_HISTORY, args, options);
  }

  /**
   * Take something into a session's context: a file that was read, the result of a tool, a decision. The same
   * content of the same source is only touched. Another content supersedes the older one, of which a line is
   * left.
   */
  sessionAdmit(args: SessionsSessionAdmitArgs, options?: CallOptions): Promise<AdmittedObjects> {
    return this.call(SESSION_ADMIT, args, options);
  }

  /** List a session's objects in the order in which they came, evicted ones too, without their texts. */
  sessionObjects(args: SessionsSessionObjectsArgs, options?: CallOptions): Pages<ListedObjects, ListedObject> {
    return this.pages(SESSION_OBJECTS, args, options);
  }

  /** Get an object as the context shows it, or as it would at another fidelity. A fault brings it back whole. */
  sessionObject(args: SessionsSessionObjectArgs, options?: CallOptions): Promise<ObjectAnswer> {
    return this.call(SESSION_OBJECT, args, options);
  }

  /** Bring an object back whole, byte for byte, and pin it for a while. What it depends on comes up with it. */
  sessionFault(args: SessionsSessionFaultArgs, options?: CallOptions): Promise<Restored> {
    return this.call(SESSION_FAULT, args, options);
  }

  /**
   * Keep an object for the user of its session. It outlives the session, and later sessions with the user find
   * it. The same content for the same user is kept once: to keep it again reinforces it. Nobody but the
   * session's user can be named.
   */
  sessionPersist(args: SessionsSessionPersistArgs, options?: CallOptions): Promise<KeptObject> {
    return this.call(SESSION_PERSIST, args, options);
  }

  /** Keep an object as it is, except in an emergency. */
  sessionPin(args: SessionsSessionPinArgs, options?: CallOptions): Promise<ObjectAnswer> {
    return this.call(SESSION_PIN, args, options);
  }

  /** Say that an object is no longer needed. A line of it is left, and a fault brings it back. */
  sessionRelease(args: SessionsSessionReleaseArgs, options?: CallOptions): Promise<ObjectAnswer> {
    return this.call(SESSION_RELEASE, args, options);
  }

  /** Let an object shrink again. */
  sessionUnpin(args: SessionsSessionUnpinArgs, options?: CallOptions): Promise<ObjectAnswer> {
    return this.call(SESSION_UNPIN, args, options);
  }

  /** How much of its budget the context of a session takes, and how many objects have which fidelity. */
  sessionPressure(args: SessionsSessionPressureArgs, options?: CallOptions): Promise<Pressure> {
    return this.call(SESSION_PRESSURE, args, options);
  }

  /**
   * Ask what a session's objects say, evicted ones too: the lines that answer come back, not the whole object.
   * It takes a small share of the tokens of a fault, and the object stays as it is.
   */
  sessionQuery(args: SessionsSessionQueryArgs, options?: CallOptions): Promise<MicroFault> {
    return this.call(SESSION_QUERY, args, options);
  }

  /** Make the snapshot of the conversation from the trail again, and say whether it differed. */
  sessionRebuild(args: SessionsSessionRebuildArgs, options?: CallOptions): Promise<Rebuilt> {
    return this.call(SESSION_REBUILD, args, options);
  }

  /** Say what an object has to do with another. What it depends on comes up with it, when it is brought back. */
  sessionRelate(args: SessionsSessionRelateArgs, options?: CallOptions): Promise<Related> {
    return this.call(SESSION_RELATE, args, options);
  }

  /** List the relationships between the objects of a session, the earliest first. */
  sessionRelationships(args: SessionsSessionRelationshipsArgs, options?: CallOptions): Pages<Relationships, Relationship> {
    return this.pages(SESSION_RELATIONSHIPS, args, options);
  }

  /** Take a relationship back. Its objects stay. */
  sessionUnrelate(args: SessionsSessionUnrelateArgs, options?: CallOptions): Promise<Unrelated> {
    return this.call(SESSION_UNRELATE, args, options);
  }

  /**
   * Search the objects of a session by words and by meaning, also those that its context no longer shows. An
   * object that was admitted a moment ago is found by its words at once.
   */
  sessionSearch(args: SessionsSessionSearchArgs, options?: CallOptions): Promise<FoundObjects> {
    return this.call(SESSION_SEARCH, args, options);
  }

  /** List the changes of fidelity, in order: what shrank or came back, when, and why. */
  sessionTransitions(args: SessionsSessionTransitionsArgs, options?: CallOptions): Pages<Transitions, Transition> {
    return this.pages(SESSION_TRANSITIONS, args, options);
  }

  /**
   * End a turn. If its context takes too much of the budget, one batch makes the block anew. One call can also
   * take in what the next turn begins with, and answer with its context.
   */
  sessionTurn(args: SessionsSessionTurnArgs, options?: CallOptions): Promise<TurnEnded> {
    return this.call(SESSION_TURN, args, options);
  }
}
