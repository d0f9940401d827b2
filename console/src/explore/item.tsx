// One item: its whole text, where it comes from, who confirmed it, and how it is changed or erased.

import type { models } from "scrubjay";
import { useLocation, useRoute } from "preact-iso";

import { client } from "../connection.js";
import { Remove } from "../items/removing.js";
import { detailsOf, recordOf, textOf } from "../items/source.js";
import { useLoad } from "../loading.js";
import { Problem } from "../parts/problem.js";
import { Name, StoredText } from "../parts/stored.js";
import { Edit } from "./editing.js";
import { Given } from "./given.js";
import { History } from "./history.js";

export function ExploreItem() {
  const handle = useRoute().params["handle"] ?? "";
  const source = useLoad((signal) => client().source({ handle }, { signal }), [handle]);
  const { route } = useLocation();
  return (
    <>
      <h1>
        <Name text={handle} />
      </h1>
      <Problem error={source.error} retry={source.reload} />
      {source.loading && source.data === undefined && <p class="waiting">Loading …</p>}
      {source.data && (
        <>
          <section aria-labelledby="text">
            <h2 id="text">Text</h2>
            <StoredText text={textOf(source.data)} label="Text of the item" />
            <div class="buttons">
              <Edit source={source.data} onEdited={source.reload} />
              <Remove source={source.data} onRemoved={() => route("/console/explore")} />
            </div>
          </section>
          <Provenance source={source.data} />
          <Confirmations source={source.data} />
          <Before source={source.data} />
          <Given handle={handle} />
        </>
      )}
    </>
  );
}

/** Of a fact: what else was said of the same. */
function Before({ source }: { source: models.SourceItem }) {
  const { subject, predicate } = recordOf(source);
  if (typeof subject !== "string" || typeof predicate !== "string") return null;
  return <History entity={subject} predicate={predicate} />;
}

function Provenance({ source }: { source: models.SourceItem }) {
  const subject = recordOf(source)["subject"];
  return (
    <section aria-labelledby="provenance">
      <h2 id="provenance">Where it comes from</h2>
      <dl class="details">
        {detailsOf(source).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <Name text={value} most={500} />
            </dd>
          </div>
        ))}
      </dl>
      {typeof subject === "string" && (
        <a href={`/console/explore/facts/${encodeURIComponent(subject)}`}>Walk the facts from here</a>
      )}
    </section>
  );
}

function Confirmations({ source }: { source: models.SourceItem }) {
  const { confirmations } = source.item as { confirmations?: Record<string, unknown>[] };
  if (!Array.isArray(confirmations)) return null;
  return (
    <section aria-labelledby="confirmations">
      <h2 id="confirmations">Who confirmed it</h2>
      {confirmations.length === 0 && <p class="empty">Nobody yet.</p>}
      <ul>
        {confirmations.map((one, place) => (
          <li key={place}>
            <Name text={Object.values(one).map(String).join(" · ")} most={300} />
          </li>
        ))}
      </ul>
    </section>
  );
}
