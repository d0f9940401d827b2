// Makes the calls that it reads, a line each: {group, method, args, paged}. Writes a line with the answer for each.

import { createInterface } from "node:readline";

import { Scrubjay } from "scrubjay";

const jay = new Scrubjay();

for await (const line of createInterface({ input: process.stdin })) {
  const { group, method, args, paged } = JSON.parse(line);
  try {
    const called = (group ? jay[group] : jay)[method](args);
    const answer = await (paged ? called.page() : called);
    console.log(JSON.stringify({ answer: answer ?? null }));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error) }));
  }
}
