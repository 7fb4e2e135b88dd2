import { estimateText, type ModelFacts } from "../../../kernel/faces/window.ts";
import { toArray, toObject } from "../../../wire/fields.ts";
import type { WireName, WireObject } from "../../../wire/wire.ts";
import type { GatewayConfig, RecallOffer } from "../config/config.ts";
import type { Incoming } from "../door/incoming.ts";
import type { ThreadKind } from "../identity/choose-thread.ts";
import { type CutBody, fieldValue } from "../request/cut-body.ts";
import type { ParsedRequest } from "../request/read-request.ts";
import { type CallRequest, joinedText } from "../thread/call-request.ts";
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
/** Most that a token read from the cache may cost of a fresh one where tools are offered at the start by price. */
const CHEAP_READ_SHARE = 0.25;
/** Most that the tools may add to the client's own instructions and tools there. */
const CHEAP_SIZE_SHARE = 0.05;

/**
 * Adds the gateway's tools to a request, so that they count in its window. A conversation that begins may get them at
 * once, because the provider has cached nothing of it. One that began without them gets them with its first edit, which
 * rewrites the cached prefix, so that they cost no additional cache write. Returns the same object if the model gets
 * none.
 */
export function offerTools(
  callRequest: CallRequest,
  request: Pick<ParsedRequest, "messages" | "fields" | "facts">,
  config: GatewayConfig,
  thread: Pick<Thread, "kind" | "meta">,
  facts: ModelFacts,
): CallRequest {
  const { api, frame, limits, isControl } = callRequest;
  if (isControl) return callRequest;
  const { offer } = getRecallSettings(config, api.name, thread.kind);
  // A client without tools may use a model that refuses them.
  if (offer === "never" || (offer !== "always" && request.facts.toolNames.length === 0)) return callRequest;
  if (!canOfferTools(request)) return callRequest;
  const { tools, text, tokens } = getOfferedTools(api.name);
  if (tokens > limits.window * MAX_SHARE) return callRequest;
  const isOffered = isOfferedAtOnce(offer, request, text.length, facts);
  if (!isOffered && !thread.meta.hasRecallTools)
    return offer === "kept" ? callRequest : { ...callRequest, frame: { ...frame, laterTools: tools } };
  return {
    ...callRequest,
    frame: {
      ...frame,
      toolsBytes: frame.toolsBytes + text.length,
      readTools: () => joinedText(frame.readTools(), text, "after"),
      recallTools: tools,
    },
  };
}

/**
 * True if a request gets the tools without an edit. The start of a conversation may be sent again. By price, tools are
 * offered there if repeated tokens come from a cheap cache and the tools are small next to the prompt and tools of the
 * client.
 */
export function isOfferedAtOnce(
  offer: RecallSettings["offer"],
  { messages: { cut, lead, list } }: Pick<ParsedRequest, "messages">,
  addedBytes: number,
  { prices, arePricesAssumed }: ModelFacts,
): boolean {
  if (offer === "always") return true;
  if ((offer !== "start" && offer !== "by price") || list.some(({ role }) => role === "assistant"))
    return false;
  if (offer === "start") return true;
  if (arePricesAssumed || prices.cacheRead > prices.input * CHEAP_READ_SHARE) return false;
  const said = (cut.elements.at(-1)?.to ?? 0) - (cut.elements[lead]?.from ?? 0);
  return addedBytes <= (cut.bytes.length - said) * CHEAP_SIZE_SHARE;
}

/** The gateway's tools in the format of an API, their JSON and its estimated size. */
interface OfferedTools {
  readonly tools: readonly WireObject[];
  readonly text: string;
  readonly tokens: number;
}

const OFFERED_TOOLS = new Map<WireName, OfferedTools>();

export function getOfferedTools(api: WireName): OfferedTools {
  let offered = OFFERED_TOOLS.get(api);
  if (!offered) {
    const tools = encodeRecallTools(api);
    const text = JSON.stringify(tools);
    offered = { tools, text, tokens: estimateText(text) };
    OFFERED_TOOLS.set(api, offered);
  }
  return offered;
}

const OPEN_LIST = 0x5b;
/** Fields of requests whose replies are not read here, or whose conversation is stored elsewhere. */
const UNREADABLE_FIELDS = [
  ...["background", "conversation", "thread", "functions", "function_call"],
  ...["cachedContent", "cached_content"],
];
const FORMAT_FIELDS = ["response_format", "output_format", "output_config"];

/**
 * True if the model of a request may be offered the gateway's tools: it is free to choose its calls, no tool of the
 * client has such a name, and no client without tools requires a reply of a fixed form.
 */
export function canOfferTools({
  messages,
  fields,
  facts,
}: Pick<ParsedRequest, "messages" | "fields" | "facts">): boolean {
  const { cut, list } = messages;
  const { all } = fields;
  const tools = cut.fields.get("tools");
  if (tools && cut.bytes[tools.from] !== OPEN_LIST) return false;
  if (facts.toolNames.some(isRecallTool) || !isFreeChoice(all.tool_choice)) return false;
  if (typeof all.n === "number" && all.n > 1) return false;
  if (UNREADABLE_FIELDS.some((name) => all[name] !== undefined && all[name] !== null && all[name] !== false))
    return false;
  if (facts.toolNames.length === 0 && hasFixedFormat(all)) return false;
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

function isFreeChoice(choice: unknown): boolean {
  return choice === undefined || choice === null || (toObject(choice)?.type ?? choice) === "auto";
}

function hasFixedFormat(all: ParsedRequest["fields"]["all"]): boolean {
  const format = toObject(toObject(all.text)?.format)?.type ?? "text";
  return format !== "text" || FORMAT_FIELDS.some((name) => toObject(all[name]) !== undefined);
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
