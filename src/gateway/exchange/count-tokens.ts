import { estimateText } from "../../index.ts";
import { readWhole } from "../upstream/read-whole.ts";
import { sendWhole } from "./answer.ts";
import type { Destination } from "./destination.ts";
import type { Admitted, ExchangeParts } from "./parts.ts";
import { send } from "./send.ts";

/** Counts are short. */
const MOST_BYTES = 1_024 * 1_024;
/** Answers of upstreams that cannot count. */
const CANNOT = new Set([404, 405, 501]);

/**
 * Answers how many tokens a request has: as the upstream counts, but never more than would be sent, since that is what the
 * client asks for. Upstreams that cannot count are counted for.
 */
export async function countTokens(
  admitted: Admitted,
  parts: ExchangeParts,
  { upstream, model, clientModel }: Destination,
): Promise<void> {
  const { response, body, raw, signal, trace, route } = admitted;
  const config = parts.config();
  const answered = await send(admitted, parts, { upstream, body: [raw], isEdited: true });
  const read = await readWhole(answered.body, MOST_BYTES, { idleMs: config.limits.idleMs, signal });
  const policy = config.routes[route.api]?.policy ?? config.policy;
  const isEdited = policy !== "none" && !config.dryRun;
  const { threshold } = parts.rooms.roomOf(upstream, model, clientModel, config.threshold);
  const most = isEdited ? threshold : Number.POSITIVE_INFINITY;
  trace.ending = "complete";
  if (CANNOT.has(answered.status)) {
    const tokens = Math.min(most, Math.ceil(estimateText(body.toString("utf8"))));
    const text = JSON.stringify({ input_tokens: tokens });
    trace.status = 200;
    response.writeHead(200, { "content-type": "application/json", "content-length": text.length }).end(text);
    return;
  }
  trace.status = answered.status;
  sendWhole(response, answered, read.raw, cappedCount(read.decoded?.toString("utf8"), most));
}

function cappedCount(text: string | undefined, most: number): string | undefined {
  try {
    const counted = JSON.parse(text ?? "");
    if (!(counted?.input_tokens > most)) return undefined;
    return JSON.stringify({ ...counted, input_tokens: most });
  } catch {
    return undefined;
  }
}
