import { estimateText } from "../../../kernel/faces/window.ts";
import { toArray, toObject } from "../../../wire/fields.ts";
import type { WireName, WireObject } from "../../../wire/wire.ts";
import type { CallContent } from "../call/call-content.ts";
import type { GatewayConfig, RecallOffer } from "../config/config.ts";
import type { Incoming } from "../door/incoming.ts";
import type { ThreadKind } from "../identity/choose-thread.ts";
import { type CutBody, fieldValue } from "../request/cut-body.ts";
import type { ParsedRequest } from "../request/read-request.ts";
import { estimateBytes } from "../request/request-fields.ts";
import { type CallRequest, joinedText, type LaterTools } from "../thread/call-request.ts";
import type { Thread } from "../thread/thread.ts";
import { encodeRecallTools, isRecallTool } from "./recall-tools.ts";

/** The kinds of recall that a conversation gets. */
interface RecallSettings {
  /** When tools are offered: by price where nothing is set; "kept" are tools that the conversation has already. */
  readonly offer: RecallOffer | "by price" | "kept";
  /** Whether content is sought for new messages; "kept" only repeats earlier context. */
  readonly context: boolean | "kept";
}

const NO_RECALL: RecallSettings = { offer: "never", context: false };

/**
 * The settings for requests of an API. Requests that a client makes for itself get no recall. Where nothing is set, the
 * price decides, but a gateway that edits nothing adds no tools.
 */
export function getRecallSettings(
  { recall, routes, dryRun, policy }: GatewayConfig,
  api: WireName,
  kind: ThreadKind,
): RecallSettings {
  const isTalk = kind === "main" || kind === "agent";
  if (dryRun || (!isTalk && kind !== "compaction")) return NO_RECALL;
  const own = routes[api] ?? {};
  const offer =
    own.recall?.offer ?? recall.offer ?? ((own.policy ?? policy) === "none" ? "edit" : "by price");
  const context = own.recall?.context ?? recall.context ?? false;
  // A summary keeps the tools and the context of its conversation, so that the provider finds its prompt in the cache.
  if (!isTalk) return { offer: offer === "never" ? offer : "kept", context: context && "kept" };
  return { offer, context };
}

/** Maximum share of a window for the gateway's tools; a smaller window gets none. */
const MAX_SHARE = 0.05;
/** Shorter conversations are sent as the client wrote them until their first edit, where nothing is set. */
const LONG_TOKENS = 50_000;

/**
 * Adds the gateway's tools to a request, so that they count in its window, or notes when they may join it. By price,
 * they join without an edit only a long request that no cache holds, where they cost no cached token. Tools that have
 * joined a conversation stay in it. Returns the same object if the model gets none.
 */
export function offerTools(
  callRequest: CallRequest,
  request: Pick<ParsedRequest, "messages" | "fields" | "facts">,
  config: GatewayConfig,
  thread: Pick<Thread, "kind" | "meta">,
): CallRequest {
  const { api, frame, limits, isControl, chain } = callRequest;
  if (isControl) return callRequest;
  const { offer } = getRecallSettings(config, api.name, thread.kind);
  // A client without tools may use a model that refuses them.
  if (offer === "never" || (offer !== "always" && request.facts.toolNames.length === 0)) return callRequest;
  if (!canOfferTools(request)) return callRequest;
  const { tools, text, tokens } = getOfferedTools(api.name);
  if (tokens > limits.window * MAX_SHARE) return callRequest;
  const isFirst = !chain && isBeginning(request.messages);
  if (offer === "always" || (offer === "start" && isFirst) || thread.meta.hasRecallTools)
    return {
      ...callRequest,
      frame: {
        ...frame,
        toolsBytes: frame.toolsBytes + text.length,
        readTools: () => joinedText(frame.readTools(), text, "after"),
        recallTools: tools,
      },
    };
  if (offer === "kept") return callRequest;
  const join = offer !== "by price" ? "edited" : isFirst ? "long" : "long and cold";
  return { ...callRequest, frame: { ...frame, laterTools: { tools, tokens, join } } };
}

/** True if later tools may join a request: an edit has rewritten its beginning, or it is long and uncached. */
export function canJoin(
  { isRewritten, fitted }: Pick<CallContent, "isRewritten" | "fitted">,
  { join, tokens }: LaterTools,
  roomTokens: number,
): boolean {
  if (roomTokens < tokens) return false;
  if (isRewritten) return true;
  if (join === "edited" || !fitted || fitted.tokens < LONG_TOKENS) return false;
  return join === "long" || fitted.cache === "cold";
}

/** True if the request with these messages would get the tools at once as the first one of a conversation. */
export function predictTools(request: ParsedRequest, config: GatewayConfig): boolean {
  const { messages, facts } = request;
  const { offer } = getRecallSettings(config, request.api.name, "main");
  if ((offer !== "always" && facts.toolNames.length === 0) || !canOfferTools(request)) return false;
  if (offer === "always" || !isBeginning(messages)) return offer === "always";
  return offer === "start" || (offer === "by price" && estimateBytes(messages.cut.bytes) >= LONG_TOKENS);
}

/** True for the beginning of a conversation, which may be sent again. A chained request has only new messages. */
function isBeginning({ list }: ParsedRequest["messages"]): boolean {
  return !list.some(({ role }) => role === "assistant");
}

/** The gateway's tools in the format of an API, their JSON and its estimated size. */
interface OfferedTools {
  readonly tools: readonly WireObject[];
  readonly text: string;
  readonly tokens: number;
}

const OFFERED_TOOLS = new Map<WireName, OfferedTools>();

function getOfferedTools(api: WireName): OfferedTools {
  const known = OFFERED_TOOLS.get(api);
  if (known) return known;
  const tools = encodeRecallTools(api);
  const text = JSON.stringify(tools);
  const offered = { tools, text, tokens: estimateText(text) };
  OFFERED_TOOLS.set(api, offered);
  return offered;
}

const OPEN_LIST = 0x5b;
/** Fields of requests whose replies are not read here, or whose conversation is stored elsewhere. */
const UNREADABLE_FIELDS = [
  ...["background", "conversation", "thread", "functions", "function_call"],
  ...["cachedContent", "cached_content"],
];

/**
 * True if the model of a request may be offered the gateway's tools: it is free to choose its calls, no tool of the
 * client has such a name, and no client without tools requires a reply of a fixed form.
 */
function canOfferTools(request: Pick<ParsedRequest, "messages" | "fields" | "facts">): boolean {
  const { messages, fields, facts } = request;
  const { cut, list } = messages;
  const { all } = fields;
  const tools = cut.fields.get("tools");
  if (tools && cut.bytes[tools.from] !== OPEN_LIST) return false;
  const choice = all.tool_choice ?? "auto";
  if (facts.toolNames.some(isRecallTool) || (toObject(choice)?.type ?? choice) !== "auto") return false;
  if (typeof all.n === "number" && all.n > 1) return false;
  if (UNREADABLE_FIELDS.some((name) => all[name] !== undefined && all[name] !== null && all[name] !== false))
    return false;
  if (facts.toolNames.length === 0 && fields.hasOutputFormat) return false;
  if (!canMixTools(cut, all)) return false;
  // The last message is a prefill that the model continues.
  return list.at(-1)?.role !== "assistant";
}

/** Google refuses functions next to its own tools, and calls that the client restricts must not be ours. */
function canMixTools(cut: CutBody, all: ParsedRequest["fields"]["all"]): boolean {
  const config = toObject(all.toolConfig ?? all.tool_config);
  const calling = toObject(config?.functionCallingConfig ?? config?.function_calling_config);
  if ((calling?.mode ?? "AUTO") !== "AUTO") return false;
  return toArray(fieldValue(cut, "tools")).every((tool) => {
    const names = Object.keys(toObject(tool) ?? {});
    const isGoogles = names.length > 0 && !names.some((name) => ["type", "name", "function"].includes(name));
    return !isGoogles || names.every((name) => /^function_?declarations$/i.test(name));
  });
}

/**
 * True if the reply reaches the client as it comes, so that no call in it can be carried out: Google's stream that is a
 * list, and Bedrock's stream of binary frames.
 */
export function isSentAsItComes({ route, query }: Pick<Incoming, "route" | "query">): boolean {
  if (route.type !== "api") return false;
  if (route.path.endsWith("/interactions")) return true;
  if (!route.isStreamed) return false;
  return route.path.startsWith("/model/") || (route.api === "google" && !/\balt=sse\b/.test(query));
}
