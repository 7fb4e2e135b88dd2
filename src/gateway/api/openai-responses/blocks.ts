import { objectOf } from "../../../formats/content/fields.ts";
import { isMessageContent } from "../../../formats/content/openai-responses-content.ts";
import type { BlobPart, RawPart } from "../../../index.ts";
import type { JsonObject } from "../api.ts";
import type { BlockForm } from "../editing/blocks.ts";
import { NAME } from "./decode.ts";

/** What a tool's output, or the content of a user, holds. */
export const outputForm: BlockForm = {
  text: (text) => ({ type: "input_text", text }),
  media: mediaBlock,
  raw: rawBlock,
};

/** What the content of a model holds: no media. */
const modelForm: BlockForm = {
  text: (text) => ({ type: "output_text", text }),
  media: () => undefined,
  raw: rawBlock,
};

/** How the content of a message item is written. */
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
