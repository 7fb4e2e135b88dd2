import { estimateText } from "../../index.ts";
import type { ApiName } from "../api/api.ts";
import type { GatewayConfig } from "../config/config.ts";
import type { ThreadKind } from "../identity/choose-thread.ts";
import type { ParsedRequest } from "../request/read-request.ts";
import { type CallRequest, joinedText } from "../thread/call-request.ts";
import { canOfferTools } from "./can-offer-tools.ts";
import { getRecallSettings } from "./recall-settings.ts";
import { encodeRecallTools } from "./recall-tools.ts";

/** Maximum share of a window for the gateway's tools; a smaller window gets none. */
const MAX_SHARE = 0.05;

/**
 * Adds the gateway's tools to a request, so that they count in its window. Returns the same object if the model gets
 * none.
 */
export function offerTools(
  callRequest: CallRequest,
  request: Pick<ParsedRequest, "messages" | "fields" | "facts">,
  config: GatewayConfig,
  kind: ThreadKind,
): CallRequest {
  const { api, frame, limits } = callRequest;
  if (!getRecallSettings(config, api.name, kind).tools || !canOfferTools(request)) return callRequest;
  const text = serializeTools(api.name);
  if (estimateText(text) > limits.window * MAX_SHARE) return callRequest;
  return {
    ...callRequest,
    frame: {
      ...frame,
      toolsBytes: frame.toolsBytes + text.length,
      readTools: () => joinedText(frame.readTools(), text, "after"),
      recallTools: encodeRecallTools(api.name),
    },
  };
}

function serializeTools(api: ApiName): string {
  return JSON.stringify(encodeRecallTools(api));
}
