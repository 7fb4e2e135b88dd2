import type { Json, MessageInput, PartInput, ReasoningPart, ToolResultInput } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { parseJson } from "../../model/base/parse-json.ts";
import { omitFields, toArray, toObject, toText } from "../../wire/fields.ts";
import { parseDataUrl } from "../../wire/media.ts";
import { isEmpty, nonEmptyFields } from "../content/non-empty-fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** Decoded item of the Responses API. */
type DecodedItem =
  /** Belongs to the model's next message or call. */
  | { readonly kind: "reasoning"; readonly part: ReasoningPart }
  | { readonly kind: "message"; readonly message: MessageInput; readonly results?: MessageInput }
  /** Not visible to the model. */
  | { readonly kind: "other" };

/** Context of an item. */
export interface ItemContext {
  /** Fallback id for calls without one. */
  readonly id: string;
  readonly model?: string | undefined;
  readonly turnId?: string | undefined;
}

const OTHER_ITEM: DecodedItem = { kind: "other" };

/** Decodes an item. */
export function decodeResponseItem(item: JsonObject, context: ItemContext): DecodedItem {
  const type = toText(item.type) ?? "";
  switch (type) {
    case "message":
      return decodeMessageItem(item, context);
    case "reasoning":
      return { kind: "reasoning", part: decodeReasoning(item, context) };
    // A message from another agent to this one.
    case "agent_message":
      return buildMessage(
        "user",
        decodeCodexContent(item.content),
        collectLeftovers(item, ["content"], context, type),
      );
    case "additional_tools":
      return buildMessage("system", { parts: [buildCodexRawPart(item)] }, { type });
    case "compaction":
    case "compaction_summary":
    case "context_compaction":
      return buildModelMessage([buildCodexRawPart(item)], context, { type });
    case "image_generation_call":
      return decodeGeneratedImage(item, context);
    default:
      if (type.endsWith("_output")) return decodeToolOutput(item, type, context);
      if (type.endsWith("_call")) return decodeToolCall(item, type, context);
      return OTHER_ITEM;
  }
}

/** Converts a whole history, as compaction leaves it. */
export function decodeHistory(items: unknown, context: ItemContext): readonly MessageInput[] {
  const messages: MessageInput[] = [];
  let thoughts: ReasoningPart[] = [];
  for (const [index, value] of toArray(items).entries()) {
    const item = toObject(value);
    const meaning = item
      ? decodeResponseItem(item, { ...context, id: `${context.id}:${index}` })
      : OTHER_ITEM;
    if (meaning.kind === "reasoning") thoughts.push(meaning.part);
    else if (meaning.kind === "other")
      messages.push({ role: "assistant", parts: [buildCodexRawPart(value)] });
    else {
      if (thoughts.length > 0 && meaning.message.role !== "assistant")
        messages.push({ role: "assistant", parts: thoughts });
      messages.push(prependReasoning(meaning.message, meaning.message.role === "assistant" ? thoughts : []));
      if (meaning.results) messages.push(meaning.results);
      thoughts = [];
    }
  }
  return thoughts.length > 0 ? [...messages, { role: "assistant", parts: thoughts }] : messages;
}

/** Prepends reasoning to a message of the model. */
export function prependReasoning(said: MessageInput, thoughts: readonly ReasoningPart[]): MessageInput {
  return thoughts.length > 0 ? { ...said, parts: [...thoughts, ...(said.parts ?? [])] } : said;
}

const ROLES = { user: "user", assistant: "assistant", developer: "system", system: "system" } as const;

function decodeMessageItem(item: JsonObject, context: ItemContext): DecodedItem {
  const foreignRole = toText(item.role) ?? "";
  const role = Object.hasOwn(ROLES, foreignRole) ? ROLES[foreignRole as keyof typeof ROLES] : undefined;
  if (role === undefined) return OTHER_ITEM;
  const content = decodeCodexContent(item.content);
  const left = {
    ...collectLeftovers(item, ["role", "content"], context),
    ...(role === foreignRole ? {} : { role: foreignRole }),
  };
  return buildMessage(role, content, left, role === "assistant" ? context.model : undefined);
}

function decodeReasoning(item: JsonObject, context: ItemContext): ReasoningPart {
  const texts = [...getItemTexts(item.summary), ...getItemTexts(item.content)];
  const opaque = collectLeftovers(item, isPlain(item) ? ["summary", "content"] : [], context);
  return { type: "reasoning", text: texts.join("\n\n"), ...(opaque && { opaque }) };
}

/** True if the joined text represents the lists completely. */
function isPlain({ summary, content }: JsonObject): boolean {
  return getItemTexts(summary).length <= 1 && toArray(content).length === 0;
}

/** Returns the texts of summaries or plain reasoning. */
export function getItemTexts(items: unknown): readonly string[] {
  return toArray(items).flatMap((item) => toText(toObject(item)?.text) ?? []);
}

function decodeToolCall(item: JsonObject, type: string, context: ItemContext): DecodedItem {
  const field = ["arguments", "input", "action"].find((name) => item[name] !== undefined);
  const part: PartInput = {
    type: "tool-call",
    callId: getCallId(item, context),
    name: toText(item.name) ?? type.replace(/_call$/, ""),
    input: field === undefined ? {} : parseInput(item[field], type),
  };
  const left = collectLeftovers(item, ["name", "call_id", ...(field ? [field] : [])], context, type);
  return buildModelMessage([part], context, left);
}

/** Parses the arguments of functions, which are JSON in a string; the input of other tools is used unchanged. */
function parseInput(value: unknown, type: string): Json {
  if (type !== "function_call" || typeof value !== "string") return value as Json;
  try {
    return parseJson(value) as Json;
  } catch {
    return value;
  }
}

function decodeToolOutput(item: JsonObject, type: string, context: ItemContext): DecodedItem {
  const isList = item.output === undefined && item.tools !== undefined;
  const { extras, ...answer } = isList
    ? { output: [buildCodexRawPart(item.tools)] }
    : decodeCodexOutput(item.output);
  const part: PartInput = { type: "tool-result", callId: getCallId(item, context), ...answer };
  const left = collectLeftovers(item, ["call_id", isList ? "tools" : "output"], context, type);
  return buildMessage("tool", { parts: [part], ...(extras && { extras }) }, left);
}

/** Converts an image generation; the image comes with the call itself. */
function decodeGeneratedImage(item: JsonObject, context: ItemContext): DecodedItem {
  const callId = getCallId(item, context);
  const { result, revised_prompt: prompt } = item;
  const left = collectLeftovers(
    item,
    ["result", "revised_prompt", "call_id"],
    context,
    "image_generation_call",
  );
  const input = typeof prompt === "string" ? { revised_prompt: prompt } : {};
  const call = buildModelMessage(
    [{ type: "tool-call", callId, name: "image_generation", input }],
    context,
    left,
  );
  if (typeof result !== "string" || result === "" || call.kind !== "message") return call;
  const { parts } = decodeCodexContent([
    { type: "input_image", image_url: `data:image/png;base64,${result}` },
  ]);
  return { ...call, results: { role: "tool", parts: [{ type: "tool-result", callId, output: parts }] } };
}

function getCallId(item: JsonObject, context: ItemContext): string {
  return toText(item.call_id) ?? toText(item.id) ?? context.id;
}

function buildModelMessage(
  parts: readonly PartInput[],
  context: ItemContext,
  left: ItemLeftovers,
): DecodedItem {
  return buildMessage("assistant", { parts }, left, context.model);
}

type ItemLeftovers = { readonly [key: string]: Json } | undefined;

function buildMessage(
  role: MessageInput["role"],
  content: { readonly parts: readonly PartInput[]; readonly extras?: Json },
  left: ItemLeftovers,
  model?: string,
): DecodedItem {
  const meta = { ...left, ...(content.extras === undefined ? {} : { extras: content.extras }) };
  return {
    kind: "message",
    message: {
      role,
      parts: content.parts,
      ...dropUndefined({ model }),
      ...(Object.keys(meta).length > 0 && { meta: { codex: meta } }),
    },
  };
}

const TYPES_IMPLIED_BY_PARTS: readonly string[] = ["function_call", "function_call_output"];

/** Returns fields that parts cannot represent. The turn of an item is left out if it is the current one. */
function collectLeftovers(
  item: JsonObject,
  held: readonly string[],
  context: ItemContext,
  type?: string,
): ItemLeftovers {
  const own = ["metadata", "internal_chat_message_metadata_passthrough"].filter((name) => {
    const fields = toObject(item[name]);
    return fields && context.turnId !== undefined && isOnlyTurn(fields, context.turnId);
  });
  const left = nonEmptyFields(item, ["type", ...held, ...own]);
  if (type === undefined || TYPES_IMPLIED_BY_PARTS.includes(type)) return left;
  return { type, ...left };
}

function isOnlyTurn(fields: JsonObject, turnId: string): boolean {
  return Object.keys(fields).length === 1 && fields.turn_id === turnId;
}

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
function decodeCodexContent(content: unknown): CodexContent {
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
function decodeCodexOutput(output: unknown): CodexToolOutput {
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
function buildCodexRawPart(value: unknown): CodexPlainPart {
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
