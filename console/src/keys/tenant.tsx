// What becomes of secrets that callers send, and the language that the tenant's texts have.

import type { models } from "scrubjay";
import { useState } from "preact/hooks";

import { client } from "../connection.js";
import { useLoad } from "../loading.js";
import { Choice } from "../parts/field.js";
import { Problem } from "../parts/problem.js";

/** Those that search tells apart. */
const LANGUAGES = [
  "ar", "bg", "ca", "cs", "da", "de", "el", "en", "es", "et", "eu", "fa", "fi", "fr", "ga", "he", "hi", "hr", "hu", "hy",
  "id", "it", "ja", "ko", "lt", "lv", "ne", "nl", "no", "pl", "pt", "ro", "ru", "sk", "sl", "sr", "sv", "ta", "th", "tr",
  "uk", "ur", "vi", "zh",
] as const satisfies readonly models.Language[];
const NAMES = new Intl.DisplayNames("en", { type: "language" });
const CHOICES: readonly (readonly [models.Language | "", string])[] = [
  ["", "found out for each text"],
  ...LANGUAGES.map((code) => [code, NAMES.of(code) ?? code] as const).sort(([, one], [, other]) => one.localeCompare(other, "en")),
];

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
  const speak = (code: models.Language | "") =>
    client().setLanguage({ language: code === "" ? null : code }).then(language.reload, setError);
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
      {language.data && (
        <div class="filters">
          <Choice
            label="Language of texts that are too short to tell it"
            value={language.data.language ?? ""}
            options={CHOICES}
            onChange={speak}
          />
        </div>
      )}
    </section>
  );
}
