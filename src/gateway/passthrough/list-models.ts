import type { WireObject } from "../../wire/wire.ts";
import type { UpstreamConfig } from "../config/config.ts";
import type { Incoming } from "../door/incoming.ts";
import type { Services } from "../exchange/services.ts";
import { sendWholeBody } from "../reply/relay/relay-reply.ts";
import { readUpstreamBody } from "../upstream/read-whole.ts";
import { sendRequest } from "../upstream/send-request.ts";
import { filterModelList, findCursors } from "./allowed-models.ts";
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
