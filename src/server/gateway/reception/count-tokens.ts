import { getWire } from "../../../wire/wires.ts";
import type { GatewayConfig } from "../config/config.ts";
import { CHATGPT } from "../config/well-known-upstreams.ts";
import type { Incoming } from "../door/read-body.ts";
import type { Services } from "../exchange/services.ts";
import { type BodyChanges, buildOutgoingBody, countBytes } from "../outgoing/outgoing-body.ts";
import { buildPlainPieces, isExtension, repeatSentPieces } from "../outgoing/outgoing-pieces.ts";
import { predictTools } from "../recall/offer-tools.ts";
import { appendMemories, readPersonMemories } from "../recall/pinned-memories.ts";
import { addGoogleTools, encodeRecallTools } from "../recall/recall-tools.ts";
import { sendWholeBody } from "../reply/relay/relay-reply.ts";
import { BodyError, cutBody, fieldValue, type SentAdditions } from "../request/cut-body.ts";
import { findCompactions } from "../request/find-compactions.ts";
import { LIFT_FROM_BYTES } from "../request/lift.ts";
import type { ParsedRequest } from "../request/read-request.ts";
import {
  CONTEXT_MANAGEMENT,
  estimateBytes,
  getContextManager,
  parseRequestFields,
  readBodyFacts,
} from "../request/request-fields.ts";
import { readMessages } from "../request/request-messages.ts";
import { sendRequest } from "../upstream/send-request.ts";
import { readUpstreamBody } from "../upstream/send-upstream.ts";
import type { Target } from "../upstream/target.ts";

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
  // Bedrock wraps the request, which is counted as it is.
  const isSame = route.path.startsWith("/model/") || (!isEdited && model === clientModel);
  const memories = isEdited && !isSame ? await findCountedMemories(incoming, services, target) : undefined;
  const counted = isSame ? undefined : buildCountedBody(incoming, services, target, { isEdited, memories });
  const sent = counted?.sent ?? [raw];
  const answer = await sendRequest(incoming, services, { upstream, body: sent, isBodyChanged: !isSame });
  const read = await readUpstreamBody(answer.body, MAX_BYTES, { idleMs: config.limits.idleMs, signal });
  const { threshold } = services.modelLimits.getLimits(target, config.threshold);
  const maxTokens = isEdited && !counted?.isControl ? threshold : Number.POSITIVE_INFINITY;
  trace.ending = "complete";
  if (UNSUPPORTED_STATUSES.has(answer.status)) {
    const bytes = counted ? Buffer.concat(sent) : body;
    const text = JSON.stringify({
      [getCountField(route)]: Math.min(maxTokens, Math.ceil(estimateBytes(bytes))),
    });
    trace.status = 200;
    response.writeHead(200, { "content-type": "application/json", "content-length": text.length }).end(text);
    return;
  }
  trace.status = answer.status;
  // Ratio of the client's request to the smaller one that was counted.
  const share = counted?.isManaged ? body.length / Math.max(1, countBytes(sent)) : undefined;
  const text = read.decoded?.toString("utf8");
  sendWholeBody(response, answer, read.raw, adjustCount(text, getCountField(route), maxTokens, share));
}

/** The field of a reply with the count. */
function getCountField({ api, path }: Pick<Incoming["route"], "api" | "path">): string {
  if (path.startsWith("/model/")) return "inputTokens";
  return api === "google" ? "totalTokens" : "input_tokens";
}

/** The reply for the client; undefined to send the original. */
function adjustCount(
  text: string | undefined,
  field: string,
  maxTokens: number,
  share: number | undefined,
): string | undefined {
  try {
    const counted = JSON.parse(text ?? "");
    const { [field]: tokens } = counted ?? {};
    if (!(tokens > maxTokens) && (share === undefined || typeof tokens !== "number")) return undefined;
    const original = share && { original_input_tokens: Math.round(tokens * share) };
    return JSON.stringify({
      ...counted,
      [field]: Math.min(tokens, maxTokens),
      ...(original && { context_management: original }),
    });
  } catch {
    return undefined;
  }
}

/** The memories that a call of the person would carry; undefined if there are none. */
async function findCountedMemories(
  { principal }: Incoming,
  services: Services,
  target: Target,
): Promise<string | undefined> {
  if (target.upstream.name === CHATGPT) return undefined;
  const { window } = services.modelLimits.getLimits(target, services.config().threshold);
  return readPersonMemories(principal, services, window);
}

/**
 * Adds the gateway's additions to a counted body: those of the request that it extends, else those of a new
 * conversation. A body with neither instructions nor tools is a piece of text to be measured, and gets none.
 */
function addCountedAdditions(
  changes: BodyChanges,
  request: ParsedRequest,
  memories: string | undefined,
  config: GatewayConfig,
  known: SentAdditions | undefined,
): BodyChanges {
  const { api, messages } = request;
  // Google counts plain contents, and refuses them next to instructions that the client did not send.
  if (api.name === "google" && request.facts.lead === "") return changes;
  const { hasMemories, hasTools } = known ?? predictAdditions(request, config);
  const remembering =
    hasMemories && memories !== undefined ? appendMemories(api.name, messages, changes, memories) : changes;
  if (!hasTools) return remembering;
  const tools = encodeRecallTools(api.name);
  if (api.name === "google") {
    const all = addGoogleTools(fieldValue(messages.cut, "tools"), tools);
    return { ...remembering, fields: new Map(remembering.fields).set("tools", all) };
  }
  const appended = new Map(remembering.appended).set("tools", tools);
  return { ...remembering, appended };
}

function predictAdditions(request: ParsedRequest, config: GatewayConfig): SentAdditions {
  const { lead, toolNames } = request.facts;
  const isAgent = lead !== "" || toolNames.length > 0;
  return { hasMemories: isAgent, hasTools: isAgent && predictTools(request, config), isControl: false };
}

/** A body to be counted. */
interface CountedBody {
  readonly sent: readonly Uint8Array[];
  /** True if the client asks for edits that the gateway carries out. */
  readonly isManaged: boolean;
  /** True if it extends a conversation whose requests are sent as they come. */
  readonly isControl?: boolean;
}

/**
 * A body as it would be sent for a reply, as far as known: if edits apply, with those of the conversation that it
 * extends, and with the gateway's additions.
 */
function buildCountedBody(
  { route, body, principal }: Incoming,
  { bodies, stored, config }: Pick<Services, "bodies" | "stored" | "config">,
  { upstream, model, clientModel }: Target,
  { isEdited, memories }: { readonly isEdited: boolean; readonly memories: string | undefined },
): CountedBody {
  const api = getWire(route.api);
  const { name, messagesField } = api;
  try {
    const who = `${principal.id} ${name}`;
    const cut = cutBody(body, messagesField, (from) => bodies.listAlike(who, body, from));
    const earlier = cut.like?.memo.messages;
    const isOurs = isEdited && getContextManager(upstream) === "gateway";
    const isManaged = isOurs && cut.fields.has(CONTEXT_MANAGEMENT);
    // A large body that extends no known one is counted as it is, because parsing it would take too long.
    const isRead = isEdited && (earlier !== undefined || body.length < LIFT_FROM_BYTES);
    const listed = cut.listFrom === undefined ? { cut, lead: 0, list: [] } : undefined;
    const messages = isRead ? (listed ?? readMessages({ api, stored }, cut)) : undefined;
    const edited = messages && earlier ? repeatSentPieces(messages, earlier) : undefined;
    const compactions = isOurs ? findCompactions(cut) : undefined;
    const changes: BodyChanges = {
      // Compaction blocks are for upstreams that support them.
      pieces: edited ?? (compactions && buildPlainPieces(cut, compactions)),
      removed: isManaged ? [CONTEXT_MANAGEMENT] : [],
      ...(model !== clientModel && cut.fields.has("model") && { fields: new Map([["model", model]]) }),
    };
    if (!messages) return { sent: buildOutgoingBody({ cut }, changes), isManaged };
    const known = earlier && isExtension(messages, earlier) ? earlier.cut.memo.additions : undefined;
    const request = {
      api,
      messages,
      fields: parseRequestFields(api, cut),
      facts: readBodyFacts(api, messages),
    };
    const whole = addCountedAdditions(changes, request, memories, config(), known);
    return { sent: buildOutgoingBody({ cut }, whole), isManaged, isControl: known?.isControl === true };
  } catch (error) {
    // The upstream will report the problem.
    if (error instanceof BodyError) return { sent: [body], isManaged: false };
    throw error;
  }
}
