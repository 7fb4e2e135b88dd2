import type { WireObject } from "../api/api.ts";
import type { UpstreamConfig } from "../config/config.ts";
import { sendRequest } from "../exchange/send-request.ts";
import type { Incoming, Services } from "../exchange/services.ts";
import { readUpstreamBody } from "../upstream/read-whole.ts";
import { passThrough } from "./pass-through.ts";

const MAX_BYTES = 16 * 1_024 * 1_024;

/** Lists the models: those of a single upstream as it reports them, those of several in one list. */
export async function listModels(admitted: Incoming, parts: Services): Promise<void> {
  const { route, response, trace } = admitted;
  const isAnthropic = route.api === "anthropic";
  const speaking = parts
    .config()
    .upstreams.filter(({ apis }) => apis.some((api) => (api === "anthropic") === isAnthropic));
  const [first, ...others] = speaking;
  if (first && others.length === 0) return passThrough(admitted, parts, first);
  const lists = await Promise.all(speaking.map((upstream) => fetchModels(admitted, parts, upstream)));
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
  admitted: Incoming,
  parts: Services,
  upstream: UpstreamConfig,
): Promise<readonly WireObject[]> {
  const { prefix = "" } = upstream;
  try {
    const answered = await sendRequest(admitted, parts, { upstream, body: undefined, isEdited: true });
    const { idleMs } = parts.config().limits;
    const { decoded } = await readUpstreamBody(answered.body, MAX_BYTES, { idleMs, signal: admitted.signal });
    const { data } = JSON.parse(decoded?.toString("utf8") ?? "");
    if (answered.status !== 200 || !Array.isArray(data)) return [];
    return data.map((model: WireObject) => ({ ...model, id: `${prefix}${model.id}` }));
  } catch {
    return [];
  }
}
