// Reads manifests as a JSON list; writes what the models of their kinds say against each, null where nothing.
import * as gateway from "@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1";
import * as monitoring from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1";
import { readFileSync } from "node:fs";

const models = { "gateway.networking.k8s.io/v1": gateway, "monitoring.coreos.com/v1": monitoring };

function complaint(manifest) {
  const Model = models[manifest.apiVersion]?.[manifest.kind];
  if (!Model) return "there is no model of this kind";
  try {
    new Model(manifest).validate();
    return null;
  } catch (error) {
    return error.message;
  }
}

console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(complaint)));
