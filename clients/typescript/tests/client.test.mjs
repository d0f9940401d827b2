// The client on a running cluster: SCRUBJAY_URL, and the keys READ, WRITE and ADMIN.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";

import {
  ForbiddenError,
  InvalidError,
  NotFoundError,
  NotReachedError,
  parseBlock,
  Scrubjay,
  UnauthorizedError,
} from "scrubjay";

import { cutter } from "./cutter.mjs";

const { SCRUBJAY_URL: url, READ, WRITE, ADMIN } = process.env;
const EVENTS = 60;

const client = (token, more = {}) => new Scrubjay({ url, token, ...more });
const mission = () => `typescript-${randomUUID().slice(0, 8)}`;
const decision = (mission_id, content = "Roll back to 4.2.1") => ({
  context_type: "decision",
  mission_id,
  content,
  decision_rationale: "it worked",
  agent_name: "scout",
});

/** A fetch without a header, as a client would send that does not know it. */
const without = (header) => (input, init) => {
  const headers = { ...init.headers };
  delete headers[header];
  return fetch(input, { ...init, headers });
};

const aborted = async (calling) => {
  const reason = await calling.then(
    () => assert.fail("it was not given up"),
    (error) => error,
  );
  return reason;
};

async function writtenThroughCuts(t, more = {}) {
  const cut = await cutter(url);
  t.after(cut.close);
  const name = mission();
  const jay = client(WRITE, { url: cut.url, ...more });
  cut.replies = 2;
  const answer = await jay.cache.write(decision(name));
  assert.equal(cut.cuts, 2);
  const entries = await client(READ).cache.entries({ mission: name }).all();
  return { answer, entries };
}

test("a write whose reply is lost happens once", async (t) => {
  const { answer, entries } = await writtenThroughCuts(t);
  assert.deepEqual(entries.map((entry) => entry.id), [answer.data.id]);
});

test("the control, without a key, writes more than once", async (t) => {
  const { entries } = await writtenThroughCuts(t, { fetch: without("idempotency-key") });
  assert.ok(entries.length > 1, `${entries.length} entries`);
});

test("a call without a key that may have happened is not repeated", async (t) => {
  const cut = await cutter(url);
  t.after(cut.close);
  cut.replies = 1;
  const jay = client(ADMIN, { url: cut.url });
  await assert.rejects(jay.purge({ scope: `mission:${mission()}` }), NotReachedError);
  assert.equal(cut.cuts, 1);
});

test("refusals are errors of their own", async () => {
  const jay = client(READ);
  await assert.rejects(jay.cache.write(decision(mission())), ForbiddenError);
  await assert.rejects(jay.explain({ assembly_id: 2 ** 40 }), (error) => {
    assert.ok(error instanceof NotFoundError);
    assert.ok(error.requestId);
    return true;
  });
  await assert.rejects(jay.assemble({ query: "", caller: "scout" }), (error) => {
    assert.ok(error instanceof InvalidError);
    assert.deepEqual(error.errors.map((one) => one.field), ["query"]);
    assert.equal(error.problem.type, "/problems/invalid");
    assert.equal(error.name, "InvalidError");
    return true;
  });
  const stranger = client("sj_unknown");
  await assert.rejects(stranger.timeline().page(), UnauthorizedError);
  await assert.rejects(stranger.events().next(), UnauthorizedError);
  const nowhere = client("none", { url: "http://127.0.0.1:9", retries: 1 });
  await assert.rejects(nowhere.timeline().page(), NotReachedError);
});

test("an address that cannot be right is refused at once", () => {
  for (const wrong of ["localhost:8080", "ftp://host", "http://", "http://a@host", "http://host?a=1"]) {
    assert.throws(() => client(READ, { url: wrong }), TypeError, wrong);
  }
});

test("a secret that is given as the address is not shown", () => {
  for (const wrong of ["sj_secret", "http://scout:secret@host", "sj_secret\n"]) {
    assert.throws(() => client(READ, { url: wrong }), (error) => {
      assert.ok(error instanceof TypeError);
      assert.match(error.message, /SCRUBJAY_URL/);
      assert.doesNotMatch(error.message, /secret/);
      return true;
    });
  }
});

test("a key that no header can hold is refused at once and not shown", () => {
  for (const end of ["\n", "\r\n", " ", "\t", "\x7f", "ä"]) {
    assert.throws(() => client(`sj_secret${end}`), (error) => {
      assert.ok(error instanceof TypeError);
      assert.match(error.message, /SCRUBJAY_TOKEN/);
      assert.doesNotMatch(error.message, /secret/);
      return true;
    });
  }
});

test("a signal gives a call and a stream up", async () => {
  const jay = client(READ);
  const why = new Error("no longer wanted");
  assert.equal(await aborted(jay.timeline({}, { signal: AbortSignal.abort(why) }).page()), why);
  const stop = new AbortController();
  const waiting = jay.events({ mission: mission() }, { signal: stop.signal }).next();
  setTimeout(() => stop.abort(why), 200);
  assert.equal(await aborted(waiting), why);
});

test("a timeout covers every try", async () => {
  const never = (_, { signal }) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const begun = performance.now();
  await assert.rejects(client(READ, { fetch: never }).timeline({}, { timeoutMs: 100 }).page(), NotReachedError);
  assert.ok(performance.now() - begun < 10_000);
});

async function readThroughCuts(t, more = {}) {
  const cut = await cutter(url);
  t.after(cut.close);
  const name = mission();
  const jay = client(WRITE);
  for (let number = 0; number < EVENTS; number += 1) {
    await jay.cache.write(decision(name, `event ${number}`));
  }
  cut.every = 6_000;
  const read = [];
  const watcher = client(READ, { url: cut.url, ...more });
  for await (const event of watcher.events({ mission: name, after: 0 })) {
    read.push(event.seq);
    if (read.length === EVENTS) break;
  }
  const page = await jay.timeline({ mission: name, after: 0, limit: 1_000 }).page();
  assert.ok(cut.cuts >= 2, `${cut.cuts} cuts`);
  return { read, there: page.data.map((event) => event.seq) };
}

test("a stream that is cut misses nothing and repeats nothing", { timeout: 90_000 }, async (t) => {
  const { read, there } = await readThroughCuts(t);
  assert.deepEqual(read, there);
});

test("a list walks every page", async () => {
  const jay = client(WRITE);
  const name = mission();
  for (let number = 0; number < 7; number += 1) await jay.cache.write(decision(name, `entry ${number}`));
  const contents = [];
  for await (const entry of jay.cache.entries({ mission: name, limit: 3 })) contents.push(entry.content);
  assert.deepEqual(contents, [6, 5, 4, 3, 2, 1, 0].map((number) => `entry ${number}`));
  const sizes = [];
  for await (const page of jay.cache.entries({ mission: name, limit: 3 }).pages()) sizes.push(page.data.length);
  assert.deepEqual(sizes, [3, 3, 1]);
  const events = await jay.timeline({ mission: name, after: 0, limit: 3 }).all();
  assert.equal(new Set(events.map((event) => event.payload.id)).size, 7);
  assert.equal(events.length, 7);
});

test("an export with nothing in it is an empty list", async () => {
  const nobody = `nobody-${randomUUID().slice(0, 8)}`;
  assert.deepEqual(await client(READ).agentMemory.export({ agent_name: nobody }), []);
});

test("a client for one agent fills in what is left out", async () => {
  const jay = client(WRITE);
  const name = mission();
  const scout = jay.agent("scout", { mission: name });
  const { agent_name: _, mission_id: __, ...plain } = decision(name);
  const written = await scout.cache.write({ ...plain, wait: "indexed" });
  await scout.cache.writeBatch({ entries: [{ ...plain, content: "Wait" }] });
  await scout.agentMemory.commit({ content: "Roll back first", memory_type: "lesson_learned" });
  const entries = await scout.cache.entries().all();
  assert.deepEqual(new Set(entries.map((entry) => entry.agent_name)), new Set(["scout"]));
  const found = await scout.assemble({ query: "What was rolled back?" });
  const items = parseBlock(found.context_block, found.nonce);
  assert.ok(items.some((item) => item.handle === `cache:${written.data.id}` && item.text.includes("Roll back")));
  await assert.rejects(jay.cache.stats(), /name the mission/);
  assert.ok((await scout.cache.stats()).data.entry_count >= 2);
});
