// What becomes of secrets that callers send, and the language that the tenant's texts have.

import { useState } from "preact/hooks";

import { client } from "../connection.js";
import { useLoad } from "../loading.js";
import { Choice } from "../parts/field.js";
import { Problem } from "../parts/problem.js";

type Policy = "mask" | "refuse" | "allow" | "";

const POLICIES: readonly (readonly [Policy, string])[] = [
  ["", "as the installation says"],
  ["mask", "mask them"],
  ["refuse", "refuse the request"],
  ["allow", "let them pass"],
];

export function TenantSettings() {
  const secrets = useLoad((signal) => client().secretPolicy({}, { signal }), []);
  const language = useLoad((signal) => client().language({}, { signal }), []);
  const [error, setError] = useState<unknown>();
  const set = (policy: Policy) =>
    client().setSecretPolicy({ policy: policy === "" ? null : policy }).then(secrets.reload, setError);
  const own = secrets.data?.origin === "tenant" ? secrets.data.policy : "";
  return (
    <section aria-labelledby="tenant">
      <h2 id="tenant">This tenant</h2>
      <Problem error={error ?? secrets.error ?? language.error} />
      {secrets.data && (
        <>
          <div class="filters">
            <Choice label="Secrets in what callers send" value={own} options={POLICIES} onChange={set} />
          </div>
          <p class="small">In force: {secrets.data.policy}.</p>
        </>
      )}
      {language.data && <p>Language of its texts: {language.data.language ?? "found out for each text"}.</p>}
    </section>
  );
}
