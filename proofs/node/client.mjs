// The calls of a plan through the TypeScript SDK. A line of JSON for each: its place, tries, and the answer or the
// error. One retry each, over a new connection.
import { readFileSync } from "node:fs";

const { url, token, era, calls, workers } = JSON.parse(readFileSync(0, "utf8"));
const sdk =
  era === "legacy"
    ? {
        ...(await import("@modelcontextprotocol/sdk/client/index.js")),
        ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")),
      }
    : await import("@modelcontextprotocol/client");

async function connect() {
  const client = new sdk.Client({ name: "proof", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new sdk.StreamableHTTPClientTransport(new URL(url), { requestInit }));
  if (era !== "legacy" && client.getProtocolEra() !== "modern") throw new Error("not the modern era");
  await client.listTools();
  return client;
}

async function attempt(client, { name, arguments: given }) {
  const answer = await client.callTool({ name, arguments: given });
  if (answer.isError) throw new Error(answer.content.map((one) => one.text).join(" "));
  return answer.structuredContent;
}

async function once(state, call) {
  state.client ??= await connect();
  return await attempt(state.client, call);
}

async function work(queue) {
  const state = {};
  for (let next = queue.shift(); next; next = queue.shift()) {
    const told = { place: next.place, tries: 1 };
    try {
      told.answer = await once(state, next);
    } catch {
      told.tries = 2;
      state.client = undefined;
      await new Promise((resolve) => setTimeout(resolve, 500));
      try {
        told.answer = await once(state, next);
      } catch (error) {
        told.error = String(error);
      }
    }
    console.log(JSON.stringify(told));
  }
  await state.client?.close();
}

await Promise.all(Array.from({ length: workers }, () => work(calls)));
