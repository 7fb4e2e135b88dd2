import { objectOf } from "../../../formats/content/fields.ts";
import { isMessageContent } from "../../../formats/content/openai-responses-content.ts";
import type { BlobPart, RawPart } from "../../../index.ts";
import type { JsonObject } from "../api.ts";
import type { BlockForm } from "../editing/blocks.ts";
import { NAME } from "./decode.ts";

/** Blocks of a tool's output or of user content. */
export const outputForm: BlockForm = {
  text: (text) => ({ type: "input_text", text }),
  media: mediaBlock,
  raw: rawBlock,
};

/** Blocks of model content, which has no media. */
const modelForm: BlockForm = {
  text: (text) => ({ type: "output_text", text }),
  media: () => undefined,
  raw: rawBlock,
};

/** The block format of a message item. */
export function formFor(role: string): BlockForm {
  return role === "assistant" ? modelForm : outputForm;
}

function mediaBlock({ mime, name }: BlobPart, data: string): JsonObject {
  const url = `data:${mime};base64,${data}`;
  if (mime.startsWith("image/")) return { type: "input_image", image_url: url };
  return { type: "input_file", ...(name !== undefined && { filename: name }), file_data: url };
}

function rawBlock({ format, value }: RawPart): JsonObject | undefined {
  const block = format === NAME ? objectOf(value) : undefined;
  return block && isMessageContent(block) ? block : undefined;
}
