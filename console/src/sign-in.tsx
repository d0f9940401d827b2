// Where a key is entered, once for each tab.

import { useState } from "preact/hooks";

import { signIn } from "./connection.js";
import { Problem } from "./parts/problem.js";
import { ThemeButton } from "./theme.js";

export function SignIn() {
  const [error, setError] = useState<unknown>();
  const [waiting, setWaiting] = useState(false);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const token = String(new FormData(event.currentTarget as HTMLFormElement).get("key") ?? "").trim();
    setWaiting(true);
    signIn(token).catch((refused: unknown) => {
      setError(refused);
      setWaiting(false);
    });
  };
  return (
    <main class="sign-in">
      <h1>Scrubjay</h1>
      <p>See what your agents know, and why. Enter a key: this tab keeps it until it is closed, and nobody else gets it.</p>
      <form onSubmit={submit}>
        <label for="key">Key</label>
        <input id="key" name="key" type="password" autocomplete="off" required spellcheck={false} autofocus />
        <button type="submit" class="main" disabled={waiting}>
          {waiting ? "Signing in …" : "Sign in"}
        </button>
      </form>
      <Problem error={error} />
      <ThemeButton />
    </main>
  );
}
