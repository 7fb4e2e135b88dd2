import type { WireObject } from "../../wire/wire.ts";
import type { UpstreamConfig } from "../config/config.ts";
import type { Incoming } from "../door/incoming.ts";
import type { Services } from "../exchange/services.ts";
import { readUpstreamBody } from "../upstream/read-whole.ts";
import { sendRequest } from "../upstream/send-request.ts";
import { passThrough } from "./pass-through.ts";

const MAX_BYTES = 16 * 1_024 * 1_024;

/** Lists the models: those of a single upstream as it reports them, those of several in one list. */
export async function listModels(incoming: Incoming, services: Services): Promise<void> {
  const { route, response, trace } = incoming;
  const isAnthropic = route.api === "anthropic";
  const speaking = services
    .config()
    .upstreams.filter(({ apis }) => apis.some((api) => (api === "anthropic") === isAnthropic));
  const [first, ...others] = speaking;
  if (first && others.length === 0) return passThrough(incoming, services, first);
  const lists = await Promise.all(speaking.map((upstream) => fetchModels(incoming, services, upstream)));
  const data = lists.flat();
  const [earliest, latest] = [data[0]?.id ?? null, data.at(-1)?.id ?? null];
  const body = isAnthropic
    ? { data, has_more: false, first_id: earliest, last_id: latest }
    : { object: "list", data };
  const text = JSON.stringify(body);
  trace.status = 200;
  trace.ending = "complete";
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
  response.writeHead(200, headers).end(text);
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
    const { data } = JSON.parse(decoded?.toString("utf8") ?? "");
    if (answer.status !== 200 || !Array.isArray(data)) return [];
    return data.map((model: WireObject) => ({ ...model, id: `${prefix}${model.id}` }));
  } catch {
    return [];
  }
}
