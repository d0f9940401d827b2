// Which answers gave an item to an agent. Filled when the API tells it.

export function Given(_: { handle: string }) {
  return null;
}
