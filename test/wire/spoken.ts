import type { ReplyReader, WireEvent, WireName, WireObject } from "../../src/wire/wire.ts";
import { getWire } from "../../src/wire/wires.ts";
import { anthropic } from "../support/wire-server/anthropic.ts";
import type { WireApi } from "../support/wire-server/api.ts";
import type { Reply } from "../support/wire-server/behaviour.ts";
import { google } from "../support/wire-server/google.ts";
import { openaiChat } from "../support/wire-server/openai-chat.ts";
import { openaiResponses } from "../support/wire-server/openai-responses.ts";

/** The provider side of each API. */
export const SPEAKERS: Readonly<Record<WireName, WireApi>> = {
  anthropic,
  "openai-chat": openaiChat,
  "openai-responses": openaiResponses,
  google,
};

const request = {
  path: "/v1",
  body: { model: "some-model", stream: true, stream_options: { include_usage: true } },
};

/** The events of a streamed reply, as a client receives them. */
export function spoken(name: WireName, reply: Reply): readonly WireEvent[] {
  return SPEAKERS[name].events(reply, request).map(({ event, data }) => ({
    ...(event !== undefined && { event }),
    data: typeof data === "string" ? data : JSON.stringify(data),
  }));
}

/** The body of a non-streamed reply. */
export function spokenWhole(name: WireName, reply: Reply): string {
  return JSON.stringify(SPEAKERS[name].body(reply, request));
}

/** A reader that has consumed the events. */
export function readerOf(name: WireName, events: readonly (WireEvent | WireObject)[]): ReplyReader {
  const reader = getWire(name).createReader();
  for (const event of events)
    reader.take("data" in event ? (event as WireEvent) : { data: JSON.stringify(event) });
  return reader;
}
