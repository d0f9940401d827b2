{{- define "scrubjay.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The three services by the name of their values. */}}
{{- define "scrubjay.services" -}}
cache: {component: cache, module: services.cache, urlKey: cache-url}
agentMemory: {component: agent-memory, module: services.agent_memory, urlKey: agent-memory-url}
context: {component: context, module: services.context, urlKey: context-url}
{{- end -}}

{{- define "scrubjay.releaseLabels" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Given root and component. */}}
{{- define "scrubjay.selectorLabels" -}}
{{ include "scrubjay.releaseLabels" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "scrubjay.labels" -}}
{{ include "scrubjay.selectorLabels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "scrubjay.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ default $.Chart.AppVersion .tag }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "scrubjay.secret" -}}
{{- default (include "scrubjay.fullname" .) .Values.secrets.existing -}}
{{- end -}}

{{- define "scrubjay.ownerSecret" -}}
{{- default (default (printf "%s-owner" (include "scrubjay.fullname" .)) .Values.secrets.existing) .Values.secrets.existingOwner -}}
{{- end -}}

{{/* An environment variable from a Secret: root, name, key, and optional. */}}
{{- define "scrubjay.secretVariable" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ include "scrubjay.secret" .root }}
      key: {{ .key }}
      {{- if .optional }}
      optional: true
      {{- end }}
{{- end -}}

{{/* What a process of a service is told: root, name (of the values) and service. */}}
{{- define "scrubjay.environment" -}}
{{- $root := .root -}}
{{- $values := index $root.Values .name -}}
{{- $fullname := include "scrubjay.fullname" $root -}}
{{ include "scrubjay.secretVariable" (dict "root" $root "name" "DATABASE_URL" "key" .service.urlKey) }}
{{ include "scrubjay.secretVariable" (dict "root" $root "name" "REDIS_URL" "key" "redis-url") }}
{{- if ne .name "agentMemory" }}
{{ include "scrubjay.secretVariable" (dict "root" $root "name" "SCRUBJAY_CACHE_SECRET" "key" "cache-secret") }}
{{- end }}
{{- if ne .name "cache" }}
{{ include "scrubjay.secretVariable" (dict "root" $root "name" "SCRUBJAY_AGENT_MEMORY_SECRET" "key" "agent-memory-secret") }}
{{- end }}
{{- if eq .name "context" }}
{{ include "scrubjay.secretVariable" (dict "root" $root "name" "SCRUBJAY_QUERY_HASH_SECRET" "key" "query-hash-secret" "optional" true) }}
{{- range list "read" "write" "admin" }}
{{ include "scrubjay.secretVariable" (dict "root" $root "name" (printf "SCRUBJAY_%s_TOKEN" (upper .)) "key" (printf "%s-token" .) "optional" true) }}
{{- end }}
- name: SCRUBJAY_CACHE_URL
  value: http://{{ $fullname }}-cache:{{ $root.Values.cache.port }}
- name: SCRUBJAY_AGENT_MEMORY_URL
  value: http://{{ $fullname }}-agent-memory:{{ $root.Values.agentMemory.port }}
{{- end }}
- name: SCRUBJAY_PORT
  value: {{ $values.port | quote }}
{{- with $root.Values.embedding }}
- name: SCRUBJAY_EMBEDDER
  value: {{ .provider }}
{{- if .model }}
- name: SCRUBJAY_EMBEDDING_MODEL
  value: {{ .model | quote }}
{{- end }}
{{- if and .baseUrl (ne .provider "local") }}
- name: {{ upper .provider }}_BASE_URL
  value: {{ .baseUrl | quote }}
{{- end }}
{{- if eq .provider "openai" }}
{{ include "scrubjay.secretVariable" (dict "root" $root "name" "OPENAI_API_KEY" "key" "openai-api-key" "optional" true) }}
{{- end }}
{{- end }}
{{- if eq (include "scrubjay.usesVoyage" $root) "true" }}
{{ include "scrubjay.secretVariable" (dict "root" $root "name" "VOYAGE_API_KEY" "key" "voyage-api-key") }}
{{- end }}
{{- if eq (include "scrubjay.usesHelper" $root) "true" }}
{{ include "scrubjay.secretVariable" (dict "root" $root "name" "SCRUBJAY_HELPER_API_KEY" "key" "helper-api-key" "optional" true) }}
{{- end }}
{{- if and (eq .name "agentMemory") $values.vaultClaim }}
- name: VAULT_ROOT
  value: /vault
{{- end }}
{{- $config := merge (dict) $values.config $root.Values.config }}
{{- if $root.Values.monitoring.token }}
{{ include "scrubjay.secretVariable" (dict "root" $root "name" "SCRUBJAY_METRICS" "key" "metrics-token") }}
{{- else if and $root.Values.monitoring.serviceMonitor (not (hasKey $config "SCRUBJAY_METRICS")) }}
- name: SCRUBJAY_METRICS
  value: open
{{- end }}
{{- range $variable, $value := $config }}
- name: {{ $variable }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{/* A list that may not be empty: value, and what it is. */}}
{{- define "scrubjay.needed" -}}
{{- if not .value }}{{ fail .what }}{{ end -}}
{{- toYaml .value -}}
{{- end -}}

{{- define "scrubjay.usesVoyage" -}}
{{- $reranker := default .Values.config.SCRUBJAY_RERANKER .Values.context.config.SCRUBJAY_RERANKER -}}
{{- or (eq .Values.embedding.provider "voyage") (eq (toString $reranker) "voyage") -}}
{{- end -}}

{{- define "scrubjay.usesHelper" -}}
{{- $models := list "anthropic" "openai" -}}
{{- $cache := default .Values.config.SCRUBJAY_HELPER .Values.cache.config.SCRUBJAY_HELPER -}}
{{- $memory := default .Values.config.SCRUBJAY_HELPER .Values.agentMemory.config.SCRUBJAY_HELPER -}}
{{- $context := default .Values.config.SCRUBJAY_HELPER .Values.context.config.SCRUBJAY_HELPER -}}
{{- or (has (toString $cache) $models) (has (toString $memory) $models) (has (toString $context) $models) -}}
{{- end -}}

{{- define "scrubjay.callsOut" -}}
{{- or (ne .Values.embedding.provider "local") (eq (include "scrubjay.usesVoyage" .) "true") (eq (include "scrubjay.usesHelper" .) "true") -}}
{{- end -}}

{{- define "scrubjay.podDefaults" -}}
serviceAccountName: {{ .Values.serviceAccountName }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "scrubjay.containerDefaults" -}}
image: {{ include "scrubjay.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end -}}
