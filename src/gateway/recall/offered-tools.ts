import { estimateText } from "../../index.ts";
import type { ApiName } from "../api/api.ts";
import type { GatewayConfig } from "../config/config.ts";
import type { ReadRequest } from "../exchange/read-request.ts";
import type { ThreadKind } from "../identity/choose-thread.ts";
import { type Asked, joinedText } from "../thread/asked.ts";
import { mayOffer } from "./may-offer.ts";
import { recallSettings } from "./settings.ts";
import { toolsFor } from "./tools.ts";

/** Maximum share of a window for the gateway's tools; a smaller window gets none. */
const SHARE = 0.05;

/**
 * Adds the gateway's tools to a request, so that they count in its window. Returns the same object if the model gets
 * none.
 */
export function withOfferedTools(
  asked: Asked,
  read: Pick<ReadRequest, "said" | "fields" | "facts">,
  config: GatewayConfig,
  kind: ThreadKind,
): Asked {
  const { api, frame, room } = asked;
  if (!recallSettings(config, api.name, kind).tools || !mayOffer(read)) return asked;
  const text = textFor(api.name);
  if (estimateText(text) > room.window * SHARE) return asked;
  return {
    ...asked,
    frame: {
      ...frame,
      toolsBytes: frame.toolsBytes + text.length,
      tools: () => joinedText(frame.tools(), text, "behind"),
      ownTools: toolsFor(api.name),
    },
  };
}

function textFor(api: ApiName): string {
  return JSON.stringify(toolsFor(api));
}
