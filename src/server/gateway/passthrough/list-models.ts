import type { WireObject } from "../../../wire/wire.ts";
import type { UpstreamConfig } from "../config/config.ts";
import type { Incoming } from "../door/incoming.ts";
import type { Services } from "../exchange/services.ts";
import { sendWholeBody } from "../reply/relay/relay-reply.ts";
import { readUpstreamBody } from "../upstream/read-whole.ts";
import { sendRequest } from "../upstream/send-request.ts";
import { mayUseModel } from "../upstream/target.ts";
import { passThrough } from "./pass-through.ts";

const MAX_BYTES = 16 * 1_024 * 1_024;

/**
 * Lists the models that the person may use: those of a single upstream as it reports them, those of several in one list.
 */
export async function listModels(incoming: Incoming, services: Services): Promise<void> {
  const { route, response, trace, principal } = incoming;
  const isAnthropic = route.api === "anthropic";
  const { models: allowed, upstreams: allowedUpstreams } = principal.person ?? {};
  const speaking = services
    .config()
    .upstreams.filter(({ apis }) => apis.some((api) => (api === "anthropic") === isAnthropic))
    .filter(({ name }) => allowedUpstreams?.includes(name) ?? true);
  const [first, ...others] = speaking;
  if (first && others.length === 0)
    return allowed && incoming.request.method !== "HEAD"
      ? listAllowed(incoming, services, first, allowed)
      : passThrough(incoming, services, first);
  const lists = await Promise.all(speaking.map((upstream) => fetchModels(incoming, services, upstream)));
  const data = lists.flat();
  const body = isAnthropic ? { data, has_more: false, ...findCursors(data) } : { object: "list", data };
  const text = JSON.stringify(body);
  trace.status = 200;
  trace.ending = "complete";
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
  response.writeHead(200, headers).end(text);
}

/** Relays the list of an upstream without the models that the person may not use, in the form of the upstream. */
async function listAllowed(
  incoming: Incoming,
  services: Services,
  upstream: UpstreamConfig,
  allowed: readonly string[],
): Promise<void> {
  const { response, signal, trace } = incoming;
  const answer = await sendRequest(incoming, services, { upstream, body: undefined, isBodyChanged: false });
  const { idleMs } = services.config().limits;
  const { raw, decoded } = await readUpstreamBody(answer.body, MAX_BYTES, { idleMs, signal });
  const isList = answer.status === 200 && decoded !== undefined;
  const changed = isList
    ? filterModelList(decoded.toString("utf8"), allowed, upstream.prefix ?? "")
    : undefined;
  trace.status = answer.status;
  trace.ending = "complete";
  sendWholeBody(response, answer, raw, changed);
}

/** The models of one upstream, with the prefix by which the gateway selects it; empty if it cannot list them. */
async function fetchModels(
  incoming: Incoming,
  services: Services,
  upstream: UpstreamConfig,
): Promise<readonly WireObject[]> {
  const { prefix = "" } = upstream;
  try {
    const answer = await sendRequest(incoming, services, { upstream, body: undefined, isBodyChanged: true });
    const { idleMs } = services.config().limits;
    const { decoded } = await readUpstreamBody(answer.body, MAX_BYTES, { idleMs, signal: incoming.signal });
    const text = decoded?.toString("utf8") ?? "";
    const allowed = incoming.principal.person?.models;
    const { data } = JSON.parse((allowed && filterModelList(text, allowed, prefix)) ?? text);
    if (answer.status !== 200 || !Array.isArray(data)) return [];
    return data.map((model: WireObject) => ({ ...model, id: `${prefix}${model.id}` }));
  } catch {
    return [];
  }
}

/** The lists of models in the bodies of providers, and the fields that name a model in them. */
const LIST_FIELDS = ["data", "models"];
const NAME_FIELDS = ["id", "slug", "name", "model"];

/**
 * A provider's list of models without those that a person may not use; undefined if nothing is removed or the body is
 * no list. A body with more pages keeps the cursors of the provider, which name the place where the next page begins.
 */
function filterModelList(text: string, allowed: readonly string[], prefix: string): string | undefined {
  let body: WireObject;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  const field = LIST_FIELDS.find((name) => Array.isArray(Object(body)[name]));
  if (field === undefined) return undefined;
  const all = body[field] as readonly unknown[];
  const kept = all.filter((model) => isAllowed(model, allowed, prefix));
  if (kept.length === all.length) return undefined;
  const cursors = "first_id" in body && body.has_more !== true ? findCursors(kept) : {};
  return JSON.stringify({ ...body, [field]: kept, ...cursors });
}

/** The ids of the first and the last model of a list, in the form of Anthropic. */
function findCursors(models: readonly unknown[]) {
  const idOf = (model: unknown) => Object(model).id ?? null;
  return { first_id: idOf(models[0]), last_id: idOf(models.at(-1)) };
}

/** A model without a name of a known form cannot be asked for by name either. */
function isAllowed(model: unknown, allowed: readonly string[], prefix: string): boolean {
  const name = NAME_FIELDS.map((field) => Object(model)[field]).find((value) => typeof value === "string");
  if (name === undefined) return false;
  const plain = name.replace(/^models\//, "");
  return mayUseModel(allowed, [name, plain, `${prefix}${plain}`]);
}
