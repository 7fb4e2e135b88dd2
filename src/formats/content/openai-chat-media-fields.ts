import type { Json, PartInput } from "../../index.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { Content } from "./blocks.ts";
import { arrayOf, objectOf, textOf } from "./fields.ts";
import { dataPart } from "./media.ts";
import { contentOfChat } from "./openai-chat-content.ts";

const NAME = "openai-chat";

/** Sound that comes in pieces has no head that shows its type. */
const BARE_SOUND = "audio/pcm";

/** The pictures that a model made, which OpenRouter has beside the content. */
export function picturesOf({ role, images }: JsonObject): Content {
  return role === "assistant" ? contentOfChat(arrayOf(images)) : { parts: [] };
}

/**
 * What a model said aloud: its words, the sound, and a raw part with all else, above all the id by which requests say it
 * again.
 */
export function soundOf({ role, audio }: JsonObject): readonly PartInput[] {
  const fields = role === "assistant" ? objectOf(audio) : undefined;
  if (!fields) return [];
  const { transcript, data, ...rest } = fields;
  const words = textOf(transcript);
  const sound = dataPart(data, BARE_SOUND);
  const left = { ...rest, ...(data !== undefined && !sound && { data }) };
  return [
    ...(words === undefined ? [] : [{ type: "text", text: words } as const]),
    ...(sound ? [sound] : []),
    { type: "raw", format: NAME, value: { type: "audio", audio: left as Json } },
  ];
}

/** The part that names what was said aloud, as the value of a raw part; undefined if it is none. */
export function soundIn(part: { readonly type: string }): JsonObject | undefined {
  if (part.type !== "raw" || !("value" in part) || !("format" in part) || part.format !== NAME)
    return undefined;
  const value = objectOf(part.value);
  return value?.type === "audio" ? objectOf(value.audio) : undefined;
}
