// The key of this tab, and what it may do. The key stays in the tab's own storage: no cookie, no other tab.

import { signal } from "@preact/signals";
import { Scrubjay, type models } from "scrubjay";

const STORED = "scrubjay.key";

/** The client of the signed-in key, and what the service says of that key. */
export interface Connection {
  readonly client: Scrubjay;
  readonly me: models.Me;
}

export const connection = signal<Connection | null>(null);

/** Asks the service who the key is. Rejects with what the service says against it. */
export async function signIn(token: string): Promise<void> {
  const client = new Scrubjay({ url: location.origin, token, retries: 1 });
  const me = await client.me();
  sessionStorage.setItem(STORED, token);
  connection.value = { client, me };
}

/** Signs in with the key that this tab has kept, if any. False: there is none, or it no longer holds. */
export async function resume(): Promise<boolean> {
  const token = sessionStorage.getItem(STORED);
  if (token === null) return false;
  try {
    await signIn(token);
    return true;
  } catch {
    return false;
  }
}

export function signOut(): void {
  sessionStorage.removeItem(STORED);
  connection.value = null;
}

/** The connection of a screen, which is shown to those who are signed in only. */
export function connected(): Connection {
  if (connection.value === null) throw new Error("not signed in");
  return connection.value;
}

export function client(): Scrubjay {
  return connected().client;
}

export function may(access: "write" | "admin"): boolean {
  return connection.value?.me.access.includes(access) ?? false;
}
