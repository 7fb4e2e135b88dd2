import { estimateText } from "../../index.ts";
import type { ApiName } from "../api/api.ts";
import type { GatewayConfig } from "../config/config.ts";
import type { ReadRequest } from "../exchange/read-request.ts";
import type { ThreadKind } from "../identity/choose-thread.ts";
import { type Asked, joinedText } from "../thread/asked.ts";
import { mayOffer } from "./may-offer.ts";
import { recallSettings } from "./settings.ts";
import { toolsFor } from "./tools.ts";

/** Tools of ours may take so much of a window; a smaller one is left to the client. */
const SHARE = 0.05;

/**
 * A request with the tools of ours that its model is given among those that its window has to hold; the very same where it
 * gets none.
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
