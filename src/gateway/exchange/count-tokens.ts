import { estimateText } from "../../index.ts";
import { apiOf } from "../api/apis.ts";
import { BodyError, cutBody } from "../body/cut.ts";
import { findCompactions } from "../compaction/find-compactions.ts";
import { plainPieces } from "../compaction/plain-pieces.ts";
import { managedBy } from "../edits/managed-by.ts";
import { readWhole } from "../upstream/read-whole.ts";
import { sendWhole } from "./answer.ts";
import type { Destination } from "./destination.ts";
import { outgoingBody } from "./outgoing-body.ts";
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
  const policy = config.routes[route.api]?.policy ?? config.policy;
  const isEdited = policy !== "none" && !config.dryRun;
  const sent = isEdited ? (withoutCompactions(admitted, upstream) ?? [body]) : [raw];
  const answered = await send(admitted, parts, { upstream, body: sent, isEdited });
  const read = await readWhole(answered.body, MOST_BYTES, { idleMs: config.limits.idleMs, signal });
  const { threshold } = parts.rooms.roomOf(upstream, model, clientModel, config.threshold);
  const most = isEdited ? threshold : Number.POSITIVE_INFINITY;
  trace.ending = "complete";
  if (CANNOT.has(answered.status)) {
    const counted = sent[0] === raw ? body : Buffer.concat(sent);
    const tokens = Math.min(most, Math.ceil(estimateText(counted.toString("utf8"))));
    const text = JSON.stringify({ input_tokens: tokens });
    trace.status = 200;
    response.writeHead(200, { "content-type": "application/json", "content-length": text.length }).end(text);
    return;
  }
  trace.status = answered.status;
  sendWhole(response, answered, read.raw, cappedCount(read.decoded?.toString("utf8"), most));
}

/** A body with compaction blocks as an upstream counts it that does not know them; undefined for any other. */
function withoutCompactions(
  { route, body }: Admitted,
  upstream: Destination["upstream"],
): readonly Uint8Array[] | undefined {
  if (route.api !== "anthropic" || managedBy(upstream) !== "gateway") return undefined;
  try {
    const cut = cutBody(body, apiOf(route.api).messagesField);
    const found = findCompactions(cut);
    return found && outgoingBody({ cut }, { pieces: plainPieces(cut, found) });
  } catch (error) {
    // The upstream says what is wrong with it.
    if (error instanceof BodyError) return undefined;
    throw error;
  }
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
