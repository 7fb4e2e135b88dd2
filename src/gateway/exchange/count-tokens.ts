import { estimateBytes } from "../body/estimate-bytes.ts";
import { lengthOf } from "../body/splice.ts";
import { readWhole } from "../upstream/read-whole.ts";
import { sendWhole } from "./answer.ts";
import { countedBody } from "./counted-body.ts";
import type { Destination } from "./destination.ts";
import type { Admitted, ExchangeParts } from "./parts.ts";
import { send } from "./send.ts";

/** Replies to count requests are short. */
const MOST_BYTES = 1_024 * 1_024;
/** Statuses of upstreams that cannot count. */
const CANNOT = new Set([404, 405, 501]);

/**
 * Answers with the token count of a request: the upstream's count, but at most the size that would be sent, which is
 * the number that the client needs. For upstreams that cannot count, the gateway estimates.
 */
export async function countTokens(
  admitted: Admitted,
  parts: ExchangeParts,
  destination: Destination,
): Promise<void> {
  const { upstream, model, clientModel } = destination;
  const { response, body, raw, signal, trace, route } = admitted;
  const config = parts.config();
  const policy = config.routes[route.api]?.policy ?? config.policy;
  const isEdited = policy !== "none" && !config.dryRun;
  const isSame = !isEdited && model === clientModel;
  const counted = isSame ? undefined : countedBody(admitted, parts, destination, isEdited);
  const sent = counted?.sent ?? [raw];
  const answered = await send(admitted, parts, { upstream, body: sent, isEdited: !isSame });
  const read = await readWhole(answered.body, MOST_BYTES, { idleMs: config.limits.idleMs, signal });
  const { threshold } = parts.rooms.roomOf(destination, config.threshold);
  const most = isEdited ? threshold : Number.POSITIVE_INFINITY;
  trace.ending = "complete";
  if (CANNOT.has(answered.status)) {
    const bytes = counted ? Buffer.concat(sent) : body;
    const text = JSON.stringify({ input_tokens: Math.min(most, Math.ceil(estimateBytes(bytes))) });
    trace.status = 200;
    response.writeHead(200, { "content-type": "application/json", "content-length": text.length }).end(text);
    return;
  }
  trace.status = answered.status;
  // Ratio of the client's request to the smaller one that was counted.
  const share = counted?.isManaged ? body.length / Math.max(1, lengthOf(sent)) : undefined;
  sendWhole(response, answered, read.raw, toldCount(read.decoded?.toString("utf8"), most, share));
}

/** The reply for the client; undefined to send the original. */
function toldCount(text: string | undefined, most: number, share: number | undefined): string | undefined {
  try {
    const counted = JSON.parse(text ?? "");
    const { input_tokens } = counted ?? {};
    if (!(input_tokens > most) && (share === undefined || typeof input_tokens !== "number")) return undefined;
    const original = share && { original_input_tokens: Math.round(input_tokens * share) };
    return JSON.stringify({
      ...counted,
      input_tokens: Math.min(input_tokens, most),
      ...(original && { context_management: original }),
    });
  } catch {
    return undefined;
  }
}
