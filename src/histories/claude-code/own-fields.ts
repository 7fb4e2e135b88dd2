import type { Json, MessageInput, PartInput, RawPart, Role, ToolResultInput } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { toArray, toObject } from "../../wire/fields.ts";

/**
 * Field of a line for content of our model that the format cannot represent. Our writer sets it; Claude Code ignores
 * it.
 */
export const OWN_FIELD = "longhaul";

/** A part that the line holds in another form, or not at all. */
export interface OwnPart {
  readonly index: number;
  readonly part: PartInput;
  /** Nothing in the line's content represents the part. */
  readonly isLeftOut: boolean;
}

/** A piece of tool output that the line holds as text. */
export interface OwnOutput {
  readonly index: number;
  readonly piece: number;
  readonly part: RawPart;
}

/** Facts that our writer stores with a message. */
export interface OwnFields {
  readonly role?: Role;
  /** The original meta of the message, without the line's own ids. */
  readonly meta?: { readonly [key: string]: Json };
  readonly parts?: readonly OwnPart[];
  readonly outputs?: readonly OwnOutput[];
  /** Names of tools and files by index of their part. */
  readonly names?: readonly (readonly [number, string])[];
  /** The content is a filler, because a line must not be empty. */
  readonly isFiller?: true;
  /** The model is unknown; the line had to name one. */
  readonly isModelUnknown?: true;
  /** The line only marks a rewind. */
  readonly isRewind?: true;
  /**
   * The line is a summary that is not a message of the conversation: this field holds its messages, or names the record
   * of the summary.
   */
  readonly summary?: { readonly messages: readonly MessageInput[] } | { readonly record: string };
}

const ROLES: readonly Role[] = ["system", "user", "assistant", "tool"];

/** Parses and checks the fields that our writer stored on a line; undefined if there are none. */
export function parseOwnFields(value: unknown): OwnFields | undefined {
  const fields = toObject(value);
  if (!fields) return undefined;
  const role = ROLES.find((one) => one === fields.role);
  const meta = toObject(fields.meta) as OwnFields["meta"];
  const parts = toArray(fields.parts).flatMap(parseOwnPart);
  const outputs = toArray(fields.outputs).flatMap(parseOwnOutput);
  const names = toArray(fields.names).filter(isName);
  const summary = parseSummary(fields.summary);
  return dropUndefined({
    role: role || undefined,
    meta: meta || undefined,
    parts: parts.length > 0 ? parts : undefined,
    outputs: outputs.length > 0 ? outputs : undefined,
    names: names.length > 0 ? names : undefined,
    isFiller: fields.isFiller === true ? true : undefined,
    isRewind: fields.isRewind === true ? true : undefined,
    isModelUnknown: fields.isModelUnknown === true ? true : undefined,
    summary: summary || undefined,
  });
}

/** Restores the message that our writer turned into a line. */
export function restoreOwnMessage({ model, ...message }: MessageInput, own: OwnFields): MessageInput {
  const parts = own.isFiller ? [] : [...(message.parts ?? [])];
  for (const { index, part, isLeftOut } of own.parts ?? []) parts.splice(index, isLeftOut ? 0 : 1, part);
  for (const { index, piece, part } of own.outputs ?? []) {
    const result = parts[index];
    if (result?.type === "tool-result")
      parts[index] = { ...result, output: replacePiece(result.output, piece, part) };
  }
  for (const [index, name] of own.names ?? []) {
    const part = parts[index];
    if (part?.type === "tool-result" || part?.type === "data") parts[index] = { ...part, name };
  }
  const meta = own.meta ? { ...own.meta, ...message.meta } : message.meta;
  const isKnown = model !== undefined && !own.isModelUnknown;
  return {
    ...message,
    role: own.role ?? message.role,
    parts,
    ...(isKnown && { model }),
    ...(meta && { meta }),
  };
}

function replacePiece(
  output: ToolResultInput["output"],
  piece: number,
  part: RawPart,
): ToolResultInput["output"] {
  const pieces = typeof output === "string" ? [{ type: "text", text: output } as const] : output;
  return pieces.map((one, index) => (index === piece ? part : one));
}

function parseOwnOutput(value: unknown): readonly OwnOutput[] {
  const { index, piece, part } = toObject(value) ?? {};
  const checked = parsePart(part);
  if (checked?.type !== "raw" || typeof index !== "number" || typeof piece !== "number") return [];
  return [{ index, piece, part: checked }];
}

function isName(value: unknown): value is readonly [number, string] {
  return Array.isArray(value) && typeof value[0] === "number" && typeof value[1] === "string";
}

function parseOwnPart(value: unknown): readonly OwnPart[] {
  const { index, part, isLeftOut } = toObject(value) ?? {};
  const checked = parsePart(part);
  if (!checked || typeof index !== "number" || !Number.isInteger(index) || index < 0) return [];
  return [{ index, part: checked, isLeftOut: isLeftOut === true }];
}

function parsePart(value: unknown): PartInput | undefined {
  const fields = toObject(value) ?? {};
  const { type, text, opaque, callId, name, input, format } = fields;
  if (type === "text" && typeof text === "string") return { type, text };
  if (type === "reasoning" && typeof text === "string")
    return { type, text, ...(opaque !== undefined && { opaque: opaque as Json }) };
  if (type === "tool-call" && typeof callId === "string" && typeof name === "string" && input !== undefined)
    return { type, callId, name, input: input as Json };
  if (type === "raw" && typeof format === "string" && fields.value !== undefined)
    return { type, format, value: fields.value as Json };
  return undefined;
}

function parseSummary(value: unknown): OwnFields["summary"] {
  const fields = toObject(value);
  if (typeof fields?.record === "string") return { record: fields.record };
  const messages = toArray(fields?.messages).flatMap((message) => {
    const { role: name, parts } = toObject(message) ?? {};
    const role = ROLES.find((one) => one === name);
    return role ? [{ role, parts: toArray(parts).flatMap((part) => parsePart(part) ?? []) }] : [];
  });
  return messages.length > 0 ? { messages } : undefined;
}
