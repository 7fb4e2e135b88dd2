import type { WireObject } from "../wire.ts";

const CONTENT_TYPES: readonly unknown[] = [
  "refusal",
  "input_text",
  "output_text",
  "input_image",
  "input_file",
  "input_audio",
];

/** True for a block that belongs inside a message of the Responses API; all others are items. */
export function isMessageContent({ type }: WireObject): boolean {
  return CONTENT_TYPES.includes(type);
}
