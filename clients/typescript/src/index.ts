export { parseBlock, type Item } from "./blocks.js";
export type * from "./calls/index.js";
export { Agent, Scrubjay, type ScrubjayOptions } from "./client.js";
export {
  ApiError,
  ConflictError,
  ForbiddenError,
  InvalidError,
  NotFoundError,
  NotReachedError,
  ScrubjayError,
  TooLargeError,
  TooManyError,
  UnauthorizedError,
  UnavailableError,
  UnknownHostError,
  UnprocessableError,
  type FieldError,
  type Problem,
} from "./errors.js";
export type { EventsArgs } from "./events.js";
export type { CallOptions } from "./group.js";
export type * as models from "./models.js";
export { Pages } from "./pages.js";
export { VERSION } from "./version.js";
