// What is known: a search as an agent would see it, lists of each kind, and the way to erase.

import { useQuery } from "../address.js";
import { may } from "../connection.js";
import { Choice } from "../parts/field.js";
import { KINDS, KnownList, type Kind } from "./lists.js";
import { Purge } from "./purge.js";
import { Search } from "./search.js";

export function Explore() {
  const [query, change] = useQuery();
  const kind = (query["kind"] ?? "") as Kind | "";
  return (
    <>
      <h1>Explore what is known</h1>
      <Search query={query} change={change} />
      <section aria-labelledby="lists">
        <h2 id="lists">Everything of a kind</h2>
        <div class="filters">
          <Choice label="Kind" value={kind} options={[["", "Choose …"], ...KINDS]} onChange={(value) => change({ kind: value })} />
        </div>
        {kind !== "" && <KnownList key={kind} kind={kind} query={query} change={change} />}
      </section>
      {may("admin") && <Purge />}
    </>
  );
}
