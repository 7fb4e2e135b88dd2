import { estimateBytes } from "../body/estimate-bytes.ts";
import { lengthOf } from "../body/splice.ts";
import { readWhole } from "../upstream/read-whole.ts";
import { sendWhole } from "./answer.ts";
import { countedBody } from "./counted-body.ts";
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
  // How much larger the request is that the client asked about than the one that was counted.
  const share = counted?.isManaged ? body.length / Math.max(1, lengthOf(sent)) : undefined;
  sendWhole(response, answered, read.raw, toldCount(read.decoded?.toString("utf8"), most, share));
}

/** The answer as the client gets it; undefined for the one that came. */
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
