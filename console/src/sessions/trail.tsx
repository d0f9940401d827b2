// Everything that was said in a session, in its order.

import type { models } from "scrubjay";

import { useQuery } from "../address.js";
import { client } from "../connection.js";
import { usePages } from "../loading.js";
import { Choice } from "../parts/field.js";
import { Name, StoredText } from "../parts/stored.js";
import { ListEnd } from "../parts/table.js";
import { Time } from "../parts/time.js";

const PAGE = 50;

export function Trail({ session }: { session: string }) {
  const [query, change] = useQuery();
  const tools = query["tools"] === "no" ? "no" : "";
  const list = usePages(
    (signal) => client().sessions.sessionHistory({ session_id: session, full: tools === "", limit: PAGE }, { signal }),
    [session, tools],
  );
  return (
    <section aria-labelledby="trail">
      <h2 id="trail">What was said</h2>
      <div class="filters">
        <Choice
          label="Calls of tools"
          value={tools}
          options={[
            ["", "With their results"],
            ["no", "Left out"],
          ]}
          onChange={(value) => change({ tools: value })}
        />
      </div>
      <ol class="items">
        {list.items.map((event) => (
          <li class="item" key={event.seq}>
            <h3>
              <Name text={event.role} />{" "}
              <span class="small">
                {event.seq} · turn {event.turn} · {event.tokens.toLocaleString("en")} tokens · <Time at={event.created_at} /> ·{" "}
                <Name text={event.written_by} />
              </span>
            </h3>
            {event.content.map((block, place) => (
              <Block key={place} block={block} label={`Event ${event.seq}`} />
            ))}
          </li>
        ))}
      </ol>
      <ListEnd list={list} empty="Nothing was said, or only objects came in." />
    </section>
  );
}

function Block({ block, label }: { block: models.TrailEvent["content"][number]; label: string }) {
  switch (block.type) {
    case "text":
      return <StoredText text={block.text} label={label} />;
    case "tool_use":
      return (
        <>
          <p class="small">
            Calls <Name text={block.name} />
          </p>
          <StoredText text={JSON.stringify(block.input ?? {}, null, 2)} label={label} />
        </>
      );
    case "tool_result":
      return (
        <>
          <p class="small">{block.is_error ? "The call failed:" : "The result:"}</p>
          <StoredText text={block.content ?? ""} label={label} />
        </>
      );
    case "image":
      return (
        <p class="small">
          An image, <Name text={block.media_type} />, {(block.bytes ?? 0).toLocaleString("en")} bytes. It is not kept.
        </p>
      );
  }
}
