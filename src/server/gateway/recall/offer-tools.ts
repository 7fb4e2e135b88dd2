import { estimateText } from "../../../kernel/faces/window.ts";
import type { WireName, WireObject } from "../../../wire/wire.ts";
import type { GatewayConfig } from "../config/config.ts";
import type { ParsedRequest } from "../request/read-request.ts";
import { type CallRequest, joinedText } from "../thread/call-request.ts";
import type { Thread } from "../thread/thread.ts";
import { canOfferTools } from "./can-offer-tools.ts";
import { getRecallSettings } from "./recall-settings.ts";
import { encodeRecallTools } from "./recall-tools.ts";

/** Maximum share of a window for the gateway's tools; a smaller window gets none. */
const MAX_SHARE = 0.05;

/**
 * Adds the gateway's tools to a request, so that they count in its window. A conversation that begins gets them at once,
 * because the provider has cached nothing of it. One that began without them gets them with its first edit, which
 * rewrites the cached prefix, so that they cost no cache write of their own. Returns the same object if the model gets
 * none.
 */
export function offerTools(
  callRequest: CallRequest,
  request: Pick<ParsedRequest, "messages" | "fields" | "facts">,
  config: GatewayConfig,
  thread: Pick<Thread, "kind" | "meta">,
): CallRequest {
  const { api, frame, limits, isControl } = callRequest;
  if (isControl) return callRequest;
  const { offer } = getRecallSettings(config, api.name, thread.kind);
  if (offer === "never" || !canOfferTools(request)) return callRequest;
  // A client without tools may use a model that refuses them.
  if (offer !== "always" && request.facts.toolNames.length === 0) return callRequest;
  const { tools, text, tokens } = getOfferedTools(api.name);
  if (tokens > limits.window * MAX_SHARE) return callRequest;
  const isOffered = offer === "always" || (offer === "start" && isBeginning(request));
  if (!isOffered && !thread.meta.hasRecallTools)
    return { ...callRequest, frame: { ...frame, laterTools: tools } };
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

/** True for the first request of a conversation, also if it is sent again. */
export function isBeginning({ messages }: Pick<ParsedRequest, "messages">): boolean {
  return messages.list.every(({ role }) => role !== "assistant");
}

/** The gateway's tools in the format of an API, their JSON and its estimated size. */
interface OfferedTools {
  readonly tools: readonly WireObject[];
  readonly text: string;
  readonly tokens: number;
}

const OFFERED_TOOLS = new Map<WireName, OfferedTools>();

function getOfferedTools(api: WireName): OfferedTools {
  let offered = OFFERED_TOOLS.get(api);
  if (!offered) {
    const tools = encodeRecallTools(api);
    const text = JSON.stringify(tools);
    offered = { tools, text, tokens: estimateText(text) };
    OFFERED_TOOLS.set(api, offered);
  }
  return offered;
}
