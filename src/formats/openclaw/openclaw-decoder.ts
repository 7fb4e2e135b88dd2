import type { Json } from "../../index.ts";
import { createPiDecoder } from "../pi/pi-decoder.ts";
import type { Item } from "../port/item.ts";
import type { LineDecoder } from "../reading/decode-lines.ts";
import { findSender } from "./find-sender.ts";

/** Creates a decoder for OpenClaw's sessions, which have pi's entries; messages of channels name their sender. */
export function createOpenclawDecoder(saved?: Json): LineDecoder {
  const decoder = createPiDecoder("openclaw", saved);
  return {
    decode: function* (line) {
      for (const item of decoder.decode(line)) yield nameSender(item);
    },
    isSettled: true,
    state: () => decoder.state(),
    end: () => decoder.end(),
  };
}

function nameSender(item: Item): Item {
  if (item.type !== "record" || item.body.kind !== "message" || item.body.message.role !== "user")
    return item;
  const { message } = item.body;
  const first = message.parts?.find((part) => part.type === "text");
  const speaker = first?.type === "text" ? findSender(first.text) : undefined;
  if (speaker === undefined) return item;
  return { ...item, body: { kind: "message", message: { ...message, meta: { ...message.meta, speaker } } } };
}
