import type { GatewayConfig } from "../config/config.ts";
import { CHATGPT } from "../config/well-known-upstreams.ts";
import type { Incoming } from "../door/incoming.ts";
import type { Services } from "../exchange/services.ts";
import type { BodyChanges } from "../outgoing/outgoing-body.ts";
import { canOfferTools } from "../recall/can-offer-tools.ts";
import { appendMemories, readPersonMemories } from "../recall/pinned-memories.ts";
import { getRecallSettings } from "../recall/recall-settings.ts";
import { encodeRecallTools } from "../recall/recall-tools.ts";
import type { SentAdditions } from "../request/body-memo.ts";
import type { ParsedRequest } from "../request/read-request.ts";
import type { Target } from "../upstream/target.ts";

/** The memories that a call of the person would carry; undefined if there are none. */
export async function findCountedMemories(
  { principal }: Incoming,
  services: Services,
  target: Target,
): Promise<string | undefined> {
  if (target.upstream.name === CHATGPT) return undefined;
  const { window } = services.modelLimits.getLimits(target, services.config().threshold);
  return (await readPersonMemories(principal, services, window))?.text;
}

/**
 * Adds the gateway's additions to a counted body: those of the request that it extends, else those of a new
 * conversation. A body with neither instructions nor tools is a piece of text to be measured, and gets none.
 */
export function addCountedAdditions(
  changes: BodyChanges,
  request: ParsedRequest,
  memories: string | undefined,
  config: GatewayConfig,
  known: SentAdditions | undefined,
): BodyChanges {
  const { api, messages } = request;
  const { hasMemories, hasTools } = known ?? predictAdditions(request, config);
  const remembering =
    hasMemories && memories !== undefined ? appendMemories(api.name, messages, changes, memories) : changes;
  if (!hasTools) return remembering;
  const appended = new Map(remembering.appended).set("tools", encodeRecallTools(api.name));
  return { ...remembering, appended };
}

function predictAdditions(request: ParsedRequest, config: GatewayConfig): SentAdditions {
  const { lead, toolNames } = request.facts;
  if (lead === "" && toolNames.length === 0) return { hasMemories: false, hasTools: false, isControl: false };
  const { tools } = getRecallSettings(config, request.api.name, "main");
  return { hasMemories: true, hasTools: tools === "always" && canOfferTools(request), isControl: false };
}
