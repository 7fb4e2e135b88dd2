import type { Json, ToolResultInput } from "../../index.ts";
import { omitFields, toArray, toObject } from "../../wire/fields.ts";
import { parseDataUrl } from "../../wire/media.ts";
import { isEmpty, nonEmptyFields } from "../content/non-empty-fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** Fields of content items that parts cannot represent, by index of the item. */
type CodexExtras = { readonly [index: string]: { readonly [field: string]: Json } };

/** A part that both messages and tool results may hold. */
type CodexPlainPart = Exclude<ToolResultInput["output"], string>[number];

/** Content items as parts, one each. */
interface CodexContent {
  readonly parts: readonly CodexPlainPart[];
  readonly extras?: CodexExtras;
}

/** Converts the content of a message. */
export function decodeCodexContent(content: unknown): CodexContent {
  if (typeof content === "string") return { parts: [{ type: "text", text: content }] };
  const parts: CodexPlainPart[] = [];
  const extras: [string, { readonly [field: string]: Json }][] = [];
  for (const [index, item] of toArray(content).entries()) {
    const known = decodePart(item);
    parts.push(known?.part ?? buildCodexRawPart(item));
    if (known?.extra) extras.push([String(index), known.extra]);
  }
  return extras.length > 0 ? { parts, extras: Object.fromEntries(extras) } : { parts };
}

interface CodexToolOutput {
  readonly output: ToolResultInput["output"];
  readonly isError?: boolean;
  readonly extras?: CodexExtras;
}

/** Converts a tool's output: plain text, content items, or an older object that holds either. */
export function decodeCodexOutput(output: unknown): CodexToolOutput {
  if (typeof output === "string") return { output };
  if (Array.isArray(output)) return toToolOutput(decodeCodexContent(output));
  const fields = toObject(output);
  if (!fields) return { output: isEmpty(output) ? "" : [buildCodexRawPart(output)] };
  if (omitFields(fields, ["content", "success"])) return { output: [buildCodexRawPart(output)] };
  const isError = typeof fields.success === "boolean" ? { isError: !fields.success } : {};
  const { content } = fields;
  if (typeof content === "string") return { output: content, ...isError };
  return { ...toToolOutput(decodeCodexContent(content)), ...isError };
}

function toToolOutput({ parts, extras }: CodexContent): CodexToolOutput {
  return extras ? { output: parts, extras } : { output: parts };
}

/** Keeps a value as a raw part. */
export function buildCodexRawPart(value: unknown): CodexPlainPart {
  return { type: "raw", format: "codex", value: value as Json };
}

interface DecodedPart {
  readonly part: CodexPlainPart;
  readonly extra?: { readonly [field: string]: Json };
}

function decodePart(item: unknown): DecodedPart | undefined {
  const fields = toObject(item);
  switch (fields?.type) {
    case "input_text":
    case "output_text":
    case "text":
      if (typeof fields.text !== "string") return undefined;
      return withExtra({ type: "text", text: fields.text }, fields, "text");
    case "input_image": {
      const part = parseDataUrl(fields.image_url);
      return part && withExtra(part, fields, "image_url");
    }
    default:
      return undefined;
  }
}

function withExtra(part: CodexPlainPart, fields: JsonObject, held: string): DecodedPart {
  const extra = nonEmptyFields(fields, ["type", held]);
  return extra ? { part, extra } : { part };
}
