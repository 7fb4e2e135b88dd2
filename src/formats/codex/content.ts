import type { Json, ToolResultInput } from "../../index.ts";
import { arrayOf, fieldsBesides, objectOf } from "../content/fields.ts";
import { dataPartOfUrl } from "../content/media.ts";
import { isEmpty, toldFields } from "../content/told-fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** Fields of content items that parts cannot represent, by index of the item. */
export type Extras = { readonly [index: string]: { readonly [field: string]: Json } };

/** A part that both messages and tool results may hold. */
export type PlainPart = Exclude<ToolResultInput["output"], string>[number];

/** Content items as parts, one each. */
export interface Content {
  readonly parts: readonly PlainPart[];
  readonly extras?: Extras;
}

/** Converts the content of a message. */
export function contentParts(content: unknown): Content {
  if (typeof content === "string") return { parts: [{ type: "text", text: content }] };
  const parts: PlainPart[] = [];
  const extras: [string, { readonly [field: string]: Json }][] = [];
  for (const [index, item] of arrayOf(content).entries()) {
    const known = knownPart(item);
    parts.push(known?.part ?? rawPart(item));
    if (known?.extra) extras.push([String(index), known.extra]);
  }
  return extras.length > 0 ? { parts, extras: Object.fromEntries(extras) } : { parts };
}

export interface ToolOutput {
  readonly output: ToolResultInput["output"];
  readonly isError?: boolean;
  readonly extras?: Extras;
}

/** Converts a tool's output: plain text, content items, or an older object that holds either. */
export function toolOutput(output: unknown): ToolOutput {
  if (typeof output === "string") return { output };
  if (Array.isArray(output)) return outputOf(contentParts(output));
  const fields = objectOf(output);
  if (!fields) return { output: isEmpty(output) ? "" : [rawPart(output)] };
  if (fieldsBesides(fields, ["content", "success"])) return { output: [rawPart(output)] };
  const isError = typeof fields.success === "boolean" ? { isError: !fields.success } : {};
  const { content } = fields;
  if (typeof content === "string") return { output: content, ...isError };
  return { ...outputOf(contentParts(content)), ...isError };
}

function outputOf({ parts, extras }: Content): ToolOutput {
  return extras ? { output: parts, extras } : { output: parts };
}

/** Keeps a value as a raw part. */
export function rawPart(value: unknown): PlainPart {
  return { type: "raw", format: "codex", value: value as Json };
}

interface KnownPart {
  readonly part: PlainPart;
  readonly extra?: { readonly [field: string]: Json };
}

function knownPart(item: unknown): KnownPart | undefined {
  const fields = objectOf(item);
  switch (fields?.type) {
    case "input_text":
    case "output_text":
    case "text":
      if (typeof fields.text !== "string") return undefined;
      return withExtra({ type: "text", text: fields.text }, fields, "text");
    case "input_image": {
      const part = dataPartOfUrl(fields.image_url);
      return part && withExtra(part, fields, "image_url");
    }
    default:
      return undefined;
  }
}

function withExtra(part: PlainPart, fields: JsonObject, held: string): KnownPart {
  const extra = toldFields(fields, ["type", held]);
  return extra ? { part, extra } : { part };
}
