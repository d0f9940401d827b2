// What can go wrong: the service's problems as errors, and calls that got no answer.

/** Base of everything that this package rejects a call with, but for the reason of an aborted signal. */
export class ScrubjayError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** No answer came. A write that takes no Idempotency-Key may or may not have happened. */
export class NotReachedError extends ScrubjayError {}

/** The host of the service's address has no entry in the name system. */
export class UnknownHostError extends NotReachedError {}

/** What is wrong with one field, parameter or header of the request. */
export interface FieldError {
  field: string;
  message: string;
  /** The values that it may have, where there are few. */
  allowed?: unknown[];
  /** The known name nearest to what was given. */
  did_you_mean?: string;
}

/** RFC 9457. `extra` holds what a problem says beyond the standard, such as `dependency`. */
export interface Problem {
  /** The kind of problem: the path of a page of the service that explains it. */
  type: string;
  title: string;
  status: number;
  detail: string;
  errors: FieldError[];
  extra: Record<string, unknown>;
}

/** The service refused. */
export class ApiError extends ScrubjayError {
  readonly status: number;

  constructor(
    readonly problem: Problem,
    /** Finds the request in the service's logs. */
    readonly requestId?: string,
    /** Seconds. */
    readonly retryAfter?: number,
  ) {
    super(`${problem.status} ${problem.title}: ${problem.detail}`);
    this.status = problem.status;
  }

  /** What is wrong with the request, field by field. */
  get errors(): FieldError[] {
    return this.problem.errors;
  }
}

/** `errors` names everything that is wrong with the request. */
export class InvalidError extends ApiError {}
export class UnauthorizedError extends ApiError {}
export class ForbiddenError extends ApiError {}
export class NotFoundError extends ApiError {}
export class ConflictError extends ApiError {}
export class TooLargeError extends ApiError {}
export class UnprocessableError extends ApiError {}
/** Still too much at once, after all retries. */
export class TooManyError extends ApiError {}
/** Still away, after all retries. `problem.extra.dependency` names what. */
export class UnavailableError extends ApiError {}

const BY_STATUS: Record<number, typeof ApiError> = {
  400: InvalidError,
  401: UnauthorizedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  413: TooLargeError,
  422: UnprocessableError,
  429: TooManyError,
  503: UnavailableError,
};

/** The error that an answer makes. What is no problem document (a proxy's page) gives its status only. */
export function errorOf(status: number, headers: Headers, text: string): ApiError {
  const seconds = headers.get("retry-after") ?? "";
  const kind = BY_STATUS[status] ?? ApiError;
  return new kind(
    readProblem(status, text),
    headers.get("x-request-id") ?? undefined,
    /^\d+$/.test(seconds) ? Number(seconds) : undefined,
  );
}

function readProblem(status: number, text: string): Problem {
  const found = parsed(text);
  if (!isRecord(found)) {
    return { type: "about:blank", title: "No problem document", status, detail: "", errors: [], extra: {} };
  }
  const { type = "about:blank", title = "", status: _, detail = "", errors, ...extra } = found;
  const known = Array.isArray(errors) ? errors.filter(isRecord) : [];
  return {
    type: String(type),
    title: String(title),
    status,
    detail: String(detail),
    errors: known as unknown as FieldError[],
    extra,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
