import type { Json } from "../../kernel/index.ts";
import { parseJson } from "../../model/base/parse-json.ts";
import { toObject, toText } from "../../wire/fields.ts";
import { createPiDecoder } from "../pi/pi-decoder.ts";
import type { LineDecoder } from "../reading/decode-lines.ts";
import type { Item } from "../reading/item.ts";

/** Blocks with which OpenClaw introduces a message of a channel: a heading and an object in a code fence. */
const BLOCK = /^(?:Sender|Conversation info)\b[^\n]*:\s*\n```json\n([\s\S]*?)\n```/gm;
/** The form of earlier versions, at the end of a message in a group. */
const FROM = /\n\[from: ([^\n(\]]{1,100}?)(?: \([^\n)]*\))?\]\s*$/;
/** Blocks stand at the beginning of a message. */
const MAX_READ = 8_192;

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

/** The name of the person who sent a message through a channel; undefined if the message gives none. */
export function findSender(text: string): string | undefined {
  for (const [, json = ""] of text.slice(0, MAX_READ).matchAll(BLOCK)) {
    const fields = toObject(readObject(json));
    const name = toText(fields?.name) ?? toText(fields?.sender);
    // Without a name, the sender is a number.
    if (name !== undefined && /\p{L}/u.test(name)) return name;
  }
  return FROM.exec(text.slice(-MAX_READ))?.[1]?.trim();
}

function readObject(json: string): unknown {
  try {
    return parseJson(json);
  } catch {
    return undefined;
  }
}
