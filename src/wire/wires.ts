import { anthropicWire } from "./anthropic/anthropic-wire.ts";
import { googleWire } from "./google/google-wire.ts";
import { interactionsWire } from "./google/interactions-wire.ts";
import { openaiChatWire } from "./openai-chat/openai-chat-wire.ts";
import { openaiResponsesWire } from "./openai-responses/openai-responses-wire.ts";
import type { Wire, WireName } from "./wire.ts";

/** All wires. */
export const WIRES: readonly Wire[] = [anthropicWire, openaiChatWire, openaiResponsesWire, googleWire];

const WIRE_BY_NAME: Readonly<Record<WireName, Wire>> = {
  anthropic: anthropicWire,
  "openai-chat": openaiChatWire,
  "openai-responses": openaiResponsesWire,
  google: googleWire,
};

export function getWire(name: WireName): Wire {
  return WIRE_BY_NAME[name];
}

/** The wire of an endpoint: Google has another one for interactions. */
export function getEndpointWire(name: WireName, path: string): Wire {
  return name === "google" && /\/interactions$/.test(path) ? interactionsWire : getWire(name);
}
