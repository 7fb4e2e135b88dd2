import { matchesName } from "../../../kernel/faces/people.ts";
import { FaultError } from "../../../wire/fault-error.ts";
import type { WireFault, WireName } from "../../../wire/wire.ts";
import type { GatewayConfig, UpstreamConfig } from "../config/config.ts";
import { CHATGPT, VERTEX } from "../config/well-known-upstreams.ts";
import type { Principal } from "../door/principal.ts";
import type { Incoming } from "../door/read-body.ts";
import { quoteSafely } from "../door/request-head.ts";
import type { ParsedRequest } from "../request/read-request.ts";

/** The upstream and the model name for a request. */
export interface Target {
  readonly upstream: UpstreamConfig;
  /** The model, as the upstream names it. */
  readonly model: string;
  readonly clientModel: string;
  /** True if the client asks for the window of one million tokens. */
  readonly isMillion: boolean;
}

/** Claude Code and others ask for the long window by a header, not by the model's name. */
const MILLION_BETA = /(?:^|,)\s*context-1m-/;

/** Placeholder for a request without a model: some servers have only one, and stored prompts may name it. */
const UNNAMED_MODEL = "unnamed";

/** The target of a request. Throws `FaultError` if no upstream speaks the API, or if no model is named. */
export function chooseTarget(
  request: ParsedRequest,
  incoming: Incoming,
  services: { readonly config: () => GatewayConfig },
): Target {
  const { fields, messages } = request;
  // A request without messages must name a model.
  const isUnnamed = messages.list.length > 0 || typeof fields.all.prompt === "object";
  const clientModel = fields.model || (isUnnamed ? UNNAMED_MODEL : undefined);
  const target = chooseModelTarget(clientModel, incoming, services);
  incoming.trace.model = target.model;
  // Bedrock takes betas in the body.
  return MILLION_BETA.test(String(fields.all.anthropic_beta ?? "")) ? { ...target, isMillion: true } : target;
}

/** The target of a request that names a model. Throws `FaultError` like `chooseTarget`. */
export function chooseModelTarget(
  clientModel: string | undefined,
  { request, route }: Pick<Incoming, "request" | "route">,
  { config }: { readonly config: () => GatewayConfig },
): Target {
  const { upstreams } = config();
  // Only ChatGPT's own back-end accepts the token of a ChatGPT login.
  const login = request.headers["chatgpt-account-id"] === undefined ? undefined : CHATGPT;
  const chosen = chooseUpstream(findBoundUpstreams(upstreams, route, login), {
    api: route.api,
    model: clientModel === UNNAMED_MODEL ? undefined : clientModel,
  });
  if (chosen.fault) throw new FaultError(chosen.fault);
  if (clientModel === undefined)
    throw new FaultError({ status: 400, kind: "invalid_request", message: 'The body names no "model".' });
  // In settings and budgets a star stands for several models; a request is for one.
  if (clientModel.includes("*")) {
    const message = `The model ${JSON.stringify(clientModel.slice(0, 200))} has a star in its name; name one model.`;
    throw new FaultError({ status: 400, kind: "invalid_request", message });
  }
  const isMillion = MILLION_BETA.test(String(request.headers["anthropic-beta"] ?? ""));
  return { upstream: chosen.upstream, model: chosen.model ?? clientModel, clientModel, isMillion };
}

/** The upstreams that may get a request: only one if its login or its path belongs to that one, else all. */
export function findBoundUpstreams(
  upstreams: readonly UpstreamConfig[],
  { api, path }: Pick<Incoming["route"], "api" | "path">,
  login?: string,
): readonly UpstreamConfig[] {
  for (const place of login === undefined ? PLACES : [])
    if (place.pattern.test(path)) return findPlaceUpstreams(upstreams, place, { api, path });
  const bound = login ?? (VERTEX_PATH.test(path) ? VERTEX : undefined);
  if (bound === undefined) return upstreams;
  const isBound = ({ name, apis }: UpstreamConfig) =>
    name === bound && (apis.includes(api) || ANTHROPIC_ON_VERTEX.test(path));
  const own = upstreams.filter(isBound).map((upstream) => ({ ...upstream, apis: [api] }));
  return (own.length > 0 ? own : upstreams).map((upstream) => toRegion(upstream, path));
}

const ANTHROPIC_ON_VERTEX = /\/publishers\/anthropic\//;

/** Paths that only one provider has, and how its upstream is configured. */
const PLACES = [
  {
    pattern: /^\/openai\//,
    name: "azure",
    host: /\.azure\.(?:com|us|cn)(?:[:/]|$)/i,
    example: { baseUrl: "https://RESOURCE.openai.azure.com", keyEnv: "AZURE_OPENAI_API_KEY" },
  },
  {
    pattern: /^\/model\//,
    name: "bedrock",
    host: /\/\/bedrock-runtime\b/i,
    example: { baseUrl: "https://bedrock-runtime.REGION.amazonaws.com" },
  },
] as const;

function findPlaceUpstreams(
  upstreams: readonly UpstreamConfig[],
  { name, host, example }: (typeof PLACES)[number],
  { api, path }: Pick<Incoming["route"], "api" | "path">,
): readonly UpstreamConfig[] {
  const own = upstreams.filter(
    (upstream) => (upstream.name === name || host.test(upstream.baseUrl)) && upstream.apis.includes(api),
  );
  if (own.length > 0) return own;
  const wanted = JSON.stringify({ name, ...example, apis: [api] });
  const message = `The path ${quoteSafely(path)} needs an upstream of its own, which the gateway lacks: add ${wanted} to "upstreams" (docs/gateway.md).`;
  throw new FaultError({ status: 404, kind: "not_found", message });
}

/** A path of Vertex AI, which names a project and a region. */
const VERTEX_PATH = /\/projects\/[^/]+\/locations\/(?<location>[a-z0-9-]+)\//;
const VERTEX_HOST = "https://aiplatform.googleapis.com";

/** Vertex AI at the region that a path names; any other upstream stays as it is. */
function toRegion(upstream: UpstreamConfig, path: string): UpstreamConfig {
  const location = VERTEX_PATH.exec(path)?.groups?.location;
  if (upstream.baseUrl !== VERTEX_HOST || location === undefined || location === "global") return upstream;
  const isMulti = location === "us" || location === "eu";
  const host = isMulti ? `aiplatform.${location}.rep` : `${location}-aiplatform`;
  return { ...upstream, baseUrl: VERTEX_HOST.replace("aiplatform", host) };
}

/** The part of an upstream's configuration that decides the choice. */
export type Upstream = Pick<UpstreamConfig, "name" | "baseUrl" | "apis" | "prefix" | "models" | "keyEnv">;

/** The API and the model that a request asks for. */
interface WantedModel {
  readonly api: WireName;
  /** The model as the client names it; undefined if the request names none. */
  readonly model: string | undefined;
}

/** The upstream for a request, or the fault to report if there is none. */
type ChosenUpstream<Kind extends Upstream = Upstream> =
  | { readonly upstream: Kind; readonly model: string | undefined; readonly fault?: never }
  | { readonly fault: WireFault };

/**
 * Chooses among the upstreams that speak the API: first by the longest matching prefix of the model, then by the best
 * match in `models`, then the first upstream with neither, then the first of all. The returned `model` is the
 * upstream's name for it.
 */
export function chooseUpstream<Kind extends Upstream>(
  upstreams: readonly Kind[],
  { api, model }: WantedModel,
): ChosenUpstream<Kind> {
  let prefixed: Kind | undefined;
  let listed: Kind | undefined;
  let open: Kind | undefined;
  let first: Kind | undefined;
  let [prefixLength, matchLength] = [0, 0];
  for (const upstream of upstreams) {
    const { apis, prefix = "", models } = upstream;
    if (!apis.includes(api)) continue;
    first ??= upstream;
    if (prefix === "" && !models) open ??= upstream;
    if (model === undefined) continue;
    if (prefix.length > prefixLength && model.length > prefix.length && model.startsWith(prefix)) {
      prefixed = upstream;
      prefixLength = prefix.length;
    }
    for (const pattern of models ?? []) {
      const length = measureMatch(pattern, model);
      if (length <= matchLength) continue;
      listed = upstream;
      matchLength = length;
    }
  }
  if (prefixed) return { upstream: prefixed, model: model?.slice(prefixLength) };
  const upstream = listed ?? open ?? first;
  return upstream ? { upstream, model } : { fault: createNoUpstreamFault(api, upstreams) };
}

/** An example upstream per API, for error messages. */
const EXAMPLES: Readonly<Record<WireName, Pick<Upstream, "name" | "baseUrl" | "keyEnv">>> = {
  anthropic: { name: "anthropic", baseUrl: "https://api.anthropic.com", keyEnv: "ANTHROPIC_API_KEY" },
  "openai-chat": { name: "openai", baseUrl: "https://api.openai.com/v1", keyEnv: "OPENAI_API_KEY" },
  "openai-responses": { name: "openai", baseUrl: "https://api.openai.com/v1", keyEnv: "OPENAI_API_KEY" },
  google: { name: "gemini", baseUrl: "https://generativelanguage.googleapis.com", keyEnv: "GEMINI_API_KEY" },
};

/** Length of the match between a pattern and a model; a full name beats any prefix pattern. */
function measureMatch(pattern: string, model: string): number {
  if (pattern === model) return model.length + 2;
  return pattern.endsWith("*") && model.startsWith(pattern.slice(0, -1)) ? pattern.length : 0;
}

function createNoUpstreamFault(api: WireName, upstreams: readonly Upstream[]): WireFault {
  const example = JSON.stringify({ ...EXAMPLES[api], apis: [api] });
  const others = upstreams.map(({ name, apis }) => `${name} speaks ${apis.join(", ")}`).join("; ");
  return {
    status: 404,
    kind: "not_found",
    message:
      `No upstream of this gateway speaks ${api}${others ? ` (${others})` : ""}. ` +
      `Add ${JSON.stringify(api)} to "apis" of one that does, or add one to "upstreams", as ${example}.`,
  };
}

/** The destination of a request; the model is undefined if the request names none. */
interface WantedTarget {
  readonly upstream: { readonly name: string; readonly prefix?: string | undefined };
  readonly model: string | undefined;
  readonly clientModel: string | undefined;
}

/** Throws `FaultError` if the person may not use the upstream, the model, or one that a request names in another field. */
export function checkTargetAllowed(
  principal: Principal,
  target: WantedTarget,
  findNamed: () => readonly string[] = () => [],
): void {
  checkUpstreamAllowed(principal, target.upstream);
  const { name, models } = principal.person ?? {};
  if (!models) return;
  const { upstream, model, clientModel } = target;
  const names = [model, clientModel].filter((one) => one !== undefined);
  if (!mayUseModel(models, names))
    throw createForbiddenFault(`${name} may not use ${describeModel(clientModel)}`, models);
  for (const named of findNamed())
    if (!names.includes(named) && !mayUseModel(models, [named, `${upstream.prefix ?? ""}${named}`]))
      throw createForbiddenFault(`${name} may not use ${describeModel(named)}`, models);
}

/** Throws `FaultError` if the person may not use the upstream. */
export function checkUpstreamAllowed({ person }: Principal, { name }: WantedTarget["upstream"]): void {
  if (person?.upstreams && !person.upstreams.includes(name))
    throw createForbiddenFault(`${person.name} may not use the upstream ${name}`, person.upstreams);
}

/** True if one of a model's names is allowed. */
export function mayUseModel(allowed: readonly string[], names: readonly string[]): boolean {
  return names.some((name) => allowed.some((pattern) => matchesName(pattern, name)));
}

function describeModel(model: string | undefined): string {
  if (model === undefined) return "a request without a model";
  return /^[\w.:/@-]{1,100}$/.test(model) ? `the model ${model}` : "that model";
}

function createForbiddenFault(reason: string, allowed: readonly string[]): FaultError {
  const list = allowed.join(", ") || "none";
  return new FaultError({
    status: 403,
    kind: "forbidden",
    message: `${reason}; allowed: ${list}. An admin can change that (longhaul token set).`,
  });
}
