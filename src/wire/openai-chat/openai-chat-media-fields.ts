import type { Json } from "../../model/json.ts";
import type { PartInput } from "../../model/part.ts";
import type { Content } from "../block-content.ts";
import { toArray, toObject, toText } from "../fields.ts";
import { buildDataPart } from "../media.ts";
import type { WireObject } from "../wire.ts";
import { decodeChatContent } from "./chat-content-decode.ts";

const NAME = "openai-chat";

/** Label for audio: streamed pieces have no header that shows the type. */
const BARE_AUDIO = "audio/pcm";

/** Converts generated images, which OpenRouter places next to the content. */
export function decodeImages({ role, images }: WireObject): Content {
  return role === "assistant" ? decodeChatContent(toArray(images)) : { parts: [] };
}

/**
 * Converts spoken output: its transcript, the audio, and a raw part with all other fields, above all the id by which
 * later requests refer to it.
 */
export function decodeAudio({ role, audio }: WireObject): readonly PartInput[] {
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
export function findAudio(part: { readonly type: string }): WireObject | undefined {
  if (part.type !== "raw" || !("value" in part) || !("format" in part) || part.format !== NAME)
    return undefined;
  const value = toObject(part.value);
  return value?.type === "audio" ? toObject(value.audio) : undefined;
}
