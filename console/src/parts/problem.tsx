// What the service says against a request.

import { ApiError } from "scrubjay";

import { Name } from "./stored.js";

export function Problem({ error, retry }: { error: unknown; retry?: () => void }) {
  if (error === undefined || error === null) return null;
  return (
    <div class="problem" role="alert">
      <p>
        <strong>{titleOf(error)}</strong> <Name text={detailOf(error)} most={500} />
      </p>
      {error instanceof ApiError && error.errors.length > 0 && (
        <ul>
          {error.errors.map(({ field, message }) => (
            <li key={field}>
              <code>{field}</code>: <Name text={message} most={500} />
            </li>
          ))}
        </ul>
      )}
      {error instanceof ApiError && error.requestId && <p class="small">Request {error.requestId}</p>}
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

function titleOf(error: unknown): string {
  return error instanceof ApiError ? `${error.status} ${error.problem.title ?? ""}.` : "No answer.";
}

function detailOf(error: unknown): string {
  if (error instanceof ApiError) return error.problem.detail ?? "";
  return error instanceof Error ? error.message : String(error);
}
