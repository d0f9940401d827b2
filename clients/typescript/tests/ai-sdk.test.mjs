// Memory and tools in the AI SDK, with a provider of its own over a model server that keeps what it was asked.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { test } from "node:test";

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, streamText } from "ai";
import { Scrubjay } from "scrubjay";
import { createScrubjay, scrubjayTools } from "scrubjay/ai-sdk";

const { SCRUBJAY_URL: url, WRITE } = process.env;
const jay = new Scrubjay({ url, token: WRITE });

/** A server that speaks the protocol of chat completions. It gives the answers in turn, and keeps the requests. */
async function modelServer(t, answers) {
  const asked = [];
  const server = createServer(async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const body = JSON.parse(Buffer.concat(pieces).toString());
    asked.push(body.messages);
    const message = { role: "assistant", content: "", ...answers[Math.min(asked.length, answers.length) - 1] };
    const ended = message.tool_calls ? "tool_calls" : "stop";
    if (body.stream) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const word of message.content.split(/(?<= )/)) response.write(event({ delta: { content: word } }));
      response.end(`${event({ delta: {}, finish_reason: ended })}data: [DONE]\n\n`);
      return;
    }
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ id: "1", model: "m", choices: [{ index: 0, message, finish_reason: ended }] }));
  });
  await new Promise((started) => server.listen(0, "127.0.0.1", started));
  t.after(() => new Promise((closed) => server.close(closed) && server.closeAllConnections()));
  const provider = createOpenAICompatible({ name: "fake", baseURL: `http://127.0.0.1:${server.address().port}/v1` });
  return { asked, provider };
}

function event(choice) {
  return `data: ${JSON.stringify({ id: "1", model: "m", choices: [{ index: 0, ...choice }] })}\n\n`;
}

const agent = () => `ai-sdk-${randomUUID().slice(0, 8)}`;
const lesson = "A 409 from the ledger means that the webhook was already applied";

async function taught() {
  const name = agent();
  await jay.agentMemory.commit({ agent_name: name, memory_type: "lesson_learned", content: lesson });
  return name;
}

/** The text of a message, whether in one piece or in several. */
function said(message) {
  return typeof message.content === "string" ? message.content : message.content.map((part) => part.text).join("\n");
}

test("a message gets what is known about it, and keeps it in later calls", async (t) => {
  const { asked, provider } = await modelServer(t, [{ content: "No." }, { content: "Count it as done." }]);
  const model = createScrubjay({ jay, provider, agent: await taught() }).languageModel("m");
  const messages = [{ role: "user", content: "May a webhook be retried after a 409 from the ledger?" }];
  const first = await generateText({ model, messages });
  messages.push({ role: "assistant", content: first.text }, { role: "user", content: "What does a 409 of the ledger mean then?" });
  await generateText({ model, messages });
  assert.match(said(asked[0][0]), /already applied/);
  assert.match(said(asked[0][0]), /May a webhook be retried/);
  assert.deepEqual(asked[1].slice(0, asked[0].length), asked[0]);
  assert.doesNotMatch(said(asked[1][2]), /means that the webhook was already applied/);
});

test("what was said is remembered, streamed or not", async (t) => {
  const name = agent();
  const { provider } = await modelServer(t, [
    { content: "I learned that the staging database is db-9 and not db-1." },
    { content: "I learned that deploys on Fridays need two approvals." },
  ]);
  const model = createScrubjay({ jay, provider, agent: name }).languageModel("m");
  await generateText({ model, prompt: "Which database does staging use?" });
  const { textStream } = streamText({ model, prompt: "What do deploys need on Fridays?" });
  let streamed = "";
  for await (const piece of textStream) streamed += piece;
  assert.match(streamed, /two approvals/);
  const kept = (await jay.agentMemory.list({ agent_name: name }).all()).map((memory) => memory.content).join("\n");
  assert.match(kept, /db-9/);
  assert.match(kept, /two approvals/);
});

test("a model is called all the same when Scrubjay is away", async (t) => {
  const { asked, provider } = await modelServer(t, [{ content: "Yes." }]);
  const errors = [];
  const away = new Scrubjay({ url: "http://127.0.0.1:9", token: "none", retries: 0 });
  const model = createScrubjay({ jay: away, provider, agent: "scout", onError: (error) => errors.push(error) });
  const { text } = await generateText({ model: model.languageModel("m"), prompt: "Are you there?" });
  assert.equal(text, "Yes.");
  assert.equal(said(asked[0][0]), "Are you there?");
  assert.equal(errors.length, 2);
});

test("a model recalls and remembers by itself with the tools", async (t) => {
  const name = await taught();
  const call = (id, tool, input) => ({
    tool_calls: [{ id, type: "function", function: { name: tool, arguments: JSON.stringify(input) } }],
  });
  // Some models count their calls anew in every conversation.
  for (const learned of ["retries of webhooks are safe after a 503.", "the ledger sleeps on Sundays."]) {
    const { asked, provider } = await modelServer(t, [
      call("call_0", "assemble_context", { query: "What does a 409 from the ledger mean?" }),
      call("call_1", "remember", { text: `I learned that ${learned}` }),
      { content: "Done." },
    ]);
    const { text } = await generateText({
      model: provider("m"),
      tools: scrubjayTools(jay, { agent: name }),
      stopWhen: stepCountIs(5),
      prompt: "Find out and remember.",
    });
    assert.equal(text, "Done.");
    assert.match(said(asked[1].at(-1)), /already applied/);
    assert.match(said(asked[2].at(-1)), /Remembered/);
    const kept = await jay.agentMemory.list({ agent_name: name }).all();
    assert.ok(kept.some((memory) => memory.content.includes(learned)));
  }
});
