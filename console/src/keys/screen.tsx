// API keys, what admins did, and the tenant's settings.

import { connected, may } from "../connection.js";
import { Audit } from "./audit.js";
import { KeyList } from "./list.js";
import { Name } from "../parts/stored.js";
import { TenantSettings } from "./tenant.js";

export function Keys() {
  const me = connected().me;
  return (
    <>
      <h1>Keys</h1>
      <section aria-labelledby="mine">
        <h2 id="mine">This key</h2>
        <p>
          <Name text={me.name} /> of tenant <Name text={me.tenant} /> may {me.access.join(", ")}.
          {me.agent && <> It acts as agent <Name text={me.agent} /> only.</>}
          {me.missions && <> It reaches the missions <Name text={me.missions.join(", ")} most={400} />.</>}
          {me.users && <> It reaches the users <Name text={me.users.join(", ")} most={400} />.</>}
        </p>
        {!may("admin") && <p class="empty">Keys, the audit and the settings of the tenant need a key with admin access.</p>}
      </section>
      {may("admin") && (
        <>
          <KeyList />
          <TenantSettings />
          <Audit />
        </>
      )}
    </>
  );
}
