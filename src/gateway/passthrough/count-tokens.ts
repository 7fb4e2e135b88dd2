import type { Incoming } from "../door/incoming.ts";
import type { Services } from "../exchange/services.ts";
import { countBytes } from "../outgoing/splice-body.ts";
import { sendWholeBody } from "../reply/relay/relay-reply.ts";
import { estimateBytes } from "../request/estimate-bytes.ts";
import { readUpstreamBody } from "../upstream/read-whole.ts";
import { sendRequest } from "../upstream/send-request.ts";
import type { Target } from "../upstream/target.ts";
import { findCountedMemories } from "./counted-additions.ts";
import { buildCountedBody } from "./counted-body.ts";

/** Replies to count requests are short. */
const MAX_BYTES = 1_024 * 1_024;
/** Statuses of upstreams that cannot count. */
const UNSUPPORTED_STATUSES = new Set([404, 405, 501]);

/**
 * Answers with the token count of a request: the upstream's count, but at most the size that would be sent, which is
 * the number that the client needs. For upstreams that cannot count, the gateway estimates.
 */
export async function countTokens(incoming: Incoming, services: Services, target: Target): Promise<void> {
  const { upstream, model, clientModel } = target;
  const { response, body, raw, signal, trace, route } = incoming;
  const config = services.config();
  const policy = config.routes[route.api]?.policy ?? config.policy;
  const isEdited = policy !== "none" && !config.dryRun;
  const isSame = !isEdited && model === clientModel;
  const memories = isEdited ? await findCountedMemories(incoming, services, target) : undefined;
  const counted = isSame ? undefined : buildCountedBody(incoming, services, target, { isEdited, memories });
  const sent = counted?.sent ?? [raw];
  const answer = await sendRequest(incoming, services, { upstream, body: sent, isBodyChanged: !isSame });
  const read = await readUpstreamBody(answer.body, MAX_BYTES, { idleMs: config.limits.idleMs, signal });
  const { threshold } = services.modelLimits.getLimits(target, config.threshold);
  const maxTokens = isEdited && !counted?.isControl ? threshold : Number.POSITIVE_INFINITY;
  trace.ending = "complete";
  if (UNSUPPORTED_STATUSES.has(answer.status)) {
    const bytes = counted ? Buffer.concat(sent) : body;
    const text = JSON.stringify({ input_tokens: Math.min(maxTokens, Math.ceil(estimateBytes(bytes))) });
    trace.status = 200;
    response.writeHead(200, { "content-type": "application/json", "content-length": text.length }).end(text);
    return;
  }
  trace.status = answer.status;
  // Ratio of the client's request to the smaller one that was counted.
  const share = counted?.isManaged ? body.length / Math.max(1, countBytes(sent)) : undefined;
  sendWholeBody(response, answer, read.raw, adjustCount(read.decoded?.toString("utf8"), maxTokens, share));
}

/** The reply for the client; undefined to send the original. */
function adjustCount(
  text: string | undefined,
  maxTokens: number,
  share: number | undefined,
): string | undefined {
  try {
    const counted = JSON.parse(text ?? "");
    const { input_tokens } = counted ?? {};
    if (!(input_tokens > maxTokens) && (share === undefined || typeof input_tokens !== "number"))
      return undefined;
    const original = share && { original_input_tokens: Math.round(input_tokens * share) };
    return JSON.stringify({
      ...counted,
      input_tokens: Math.min(input_tokens, maxTokens),
      ...(original && { context_management: original }),
    });
  } catch {
    return undefined;
  }
}
