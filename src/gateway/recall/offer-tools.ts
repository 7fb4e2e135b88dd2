import { estimateText } from "../../index.ts";
import type { ApiName } from "../api/api.ts";
import type { GatewayConfig } from "../config/config.ts";
import type { ParsedRequest } from "../exchange/read-request.ts";
import type { ThreadKind } from "../identity/choose-thread.ts";
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
  asked: CallRequest,
  read: Pick<ParsedRequest, "said" | "fields" | "facts">,
  config: GatewayConfig,
  kind: ThreadKind,
): CallRequest {
  const { api, frame, room } = asked;
  if (!getRecallSettings(config, api.name, kind).tools || !canOfferTools(read)) return asked;
  const text = serializeTools(api.name);
  if (estimateText(text) > room.window * MAX_SHARE) return asked;
  return {
    ...asked,
    frame: {
      ...frame,
      toolsBytes: frame.toolsBytes + text.length,
      readTools: () => joinedText(frame.readTools(), text, "behind"),
      recallTools: encodeRecallTools(api.name),
    },
  };
}

function serializeTools(api: ApiName): string {
  return JSON.stringify(encodeRecallTools(api));
}
