import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { BlobPart, RawPart } from "../../model/part.ts";
import type { BlockFormat } from "../editing/client-blocks.ts";
import { toObject } from "../fields.ts";
import type { WireObject } from "../wire.ts";
import { OPENAI_RESPONSES_NAME } from "./decode-responses.ts";
import { isMessageContent } from "./openai-responses-content.ts";

/** Blocks of a tool's output or of user content. */
export const responsesOutputFormat: BlockFormat = {
  text: (text) => ({ type: "input_text", text }),
  media: encodeMedia,
  raw: encodeRaw,
};

/** Blocks of model content, which has no media. */
const responsesModelFormat: BlockFormat = {
  text: (text) => ({ type: "output_text", text }),
  media: () => undefined,
  raw: encodeRaw,
};

/** The block format of a message item. */
export function getResponsesFormat(role: string): BlockFormat {
  return role === "assistant" ? responsesModelFormat : responsesOutputFormat;
}

function encodeMedia({ mime, name }: BlobPart, data: string): WireObject {
  const url = `data:${mime};base64,${data}`;
  if (mime.startsWith("image/")) return { type: "input_image", image_url: url };
  return { type: "input_file", ...dropUndefined({ filename: name }), file_data: url };
}

function encodeRaw({ format, value }: RawPart): WireObject | undefined {
  const block = format === OPENAI_RESPONSES_NAME ? toObject(value) : undefined;
  return block && isMessageContent(block) ? block : undefined;
}
