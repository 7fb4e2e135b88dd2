import type { Json, PartInput } from "../../index.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { Content } from "./block-content.ts";
import { decodeChatContent } from "./chat-content-decode.ts";
import { toArray, toObject, toText } from "./fields.ts";
import { buildDataPart } from "./media.ts";

const NAME = "openai-chat";

/** Label for audio: streamed pieces have no header that shows the type. */
const BARE_AUDIO = "audio/pcm";

/** Converts generated images, which OpenRouter places next to the content. */
export function decodeImages({ role, images }: JsonObject): Content {
  return role === "assistant" ? decodeChatContent(toArray(images)) : { parts: [] };
}

/**
 * Converts spoken output: its transcript, the audio, and a raw part with all other fields, above all the id by which
 * later requests refer to it.
 */
export function decodeAudio({ role, audio }: JsonObject): readonly PartInput[] {
  const fields = role === "assistant" ? toObject(audio) : undefined;
  if (!fields) return [];
  const { transcript, data, ...rest } = fields;
  const words = toText(transcript);
  const sound = buildDataPart(data, BARE_AUDIO);
  const left = { ...rest, ...(data !== undefined && !sound && { data }) };
  return [
    ...(words === undefined ? [] : [{ type: "text", text: words } as const]),
    ...(sound ? [sound] : []),
    { type: "raw", format: NAME, value: { type: "audio", audio: left as Json } },
  ];
}

/** Returns the audio object of such a raw part; undefined for other parts. */
export function findAudio(part: { readonly type: string }): JsonObject | undefined {
  if (part.type !== "raw" || !("value" in part) || !("format" in part) || part.format !== NAME)
    return undefined;
  const value = toObject(part.value);
  return value?.type === "audio" ? toObject(value.audio) : undefined;
}
