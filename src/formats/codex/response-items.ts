import type { Json, MessageInput, PartInput, ReasoningPart } from "../../index.ts";
import { arrayOf, definedFields, objectOf, textOf } from "../content/fields.ts";
import { toldFields } from "../content/told-fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { parseJson } from "../reading/parse-json.ts";
import { contentParts, rawPart, toolOutput } from "./content.ts";

/** Decoded item of the Responses API. */
export type ItemMeaning =
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

const OTHER: ItemMeaning = { kind: "other" };

/** Decodes an item. */
export function meaningOf(item: JsonObject, context: ItemContext): ItemMeaning {
  const type = textOf(item.type) ?? "";
  switch (type) {
    case "message":
      return spoken(item, context);
    case "reasoning":
      return { kind: "reasoning", part: reasoningPart(item, context) };
    // A message from another agent to this one.
    case "agent_message":
      return message("user", contentParts(item.content), leftOf(item, ["content"], context, type));
    case "additional_tools":
      return message("system", { parts: [rawPart(item)] }, { type });
    case "compaction":
    case "compaction_summary":
    case "context_compaction":
      return fromModel([rawPart(item)], context, { type });
    case "image_generation_call":
      return pictureMade(item, context);
    default:
      if (type.endsWith("_output")) return toolAnswered(item, type, context);
      if (type.endsWith("_call")) return toolCalled(item, type, context);
      return OTHER;
  }
}

/** Converts a whole history, as compaction leaves it. */
export function messagesOfHistory(items: unknown, context: ItemContext): readonly MessageInput[] {
  const messages: MessageInput[] = [];
  let thoughts: ReasoningPart[] = [];
  for (const [index, value] of arrayOf(items).entries()) {
    const item = objectOf(value);
    const meaning = item ? meaningOf(item, { ...context, id: `${context.id}:${index}` }) : OTHER;
    if (meaning.kind === "reasoning") thoughts.push(meaning.part);
    else if (meaning.kind === "other") messages.push({ role: "assistant", parts: [rawPart(value)] });
    else {
      if (thoughts.length > 0 && meaning.message.role !== "assistant")
        messages.push({ role: "assistant", parts: thoughts });
      messages.push(withThoughts(meaning.message, meaning.message.role === "assistant" ? thoughts : []));
      if (meaning.results) messages.push(meaning.results);
      thoughts = [];
    }
  }
  return thoughts.length > 0 ? [...messages, { role: "assistant", parts: thoughts }] : messages;
}

/** Prepends reasoning to a message of the model. */
export function withThoughts(said: MessageInput, thoughts: readonly ReasoningPart[]): MessageInput {
  return thoughts.length > 0 ? { ...said, parts: [...thoughts, ...(said.parts ?? [])] } : said;
}

const ROLES = { user: "user", assistant: "assistant", developer: "system", system: "system" } as const;

function spoken(item: JsonObject, context: ItemContext): ItemMeaning {
  const foreignRole = textOf(item.role) ?? "";
  const role = Object.hasOwn(ROLES, foreignRole) ? ROLES[foreignRole as keyof typeof ROLES] : undefined;
  if (role === undefined) return OTHER;
  const content = contentParts(item.content);
  const left = {
    ...leftOf(item, ["role", "content"], context),
    ...(role === foreignRole ? {} : { role: foreignRole }),
  };
  return message(role, content, left, role === "assistant" ? context.model : undefined);
}

function reasoningPart(item: JsonObject, context: ItemContext): ReasoningPart {
  const texts = [...textsOf(item.summary), ...textsOf(item.content)];
  const opaque = leftOf(item, isPlain(item) ? ["summary", "content"] : [], context);
  return { type: "reasoning", text: texts.join("\n\n"), ...(opaque && { opaque }) };
}

/** True if the joined text represents the lists completely. */
function isPlain({ summary, content }: JsonObject): boolean {
  return textsOf(summary).length <= 1 && arrayOf(content).length === 0;
}

/** Returns the texts of summaries or plain reasoning. */
export function textsOf(items: unknown): readonly string[] {
  return arrayOf(items).flatMap((item) => textOf(objectOf(item)?.text) ?? []);
}

function toolCalled(item: JsonObject, type: string, context: ItemContext): ItemMeaning {
  const field = ["arguments", "input", "action"].find((name) => item[name] !== undefined);
  const part: PartInput = {
    type: "tool-call",
    callId: callIdOf(item, context),
    name: textOf(item.name) ?? type.replace(/_call$/, ""),
    input: field === undefined ? {} : inputOf(item[field], type),
  };
  const left = leftOf(item, ["name", "call_id", ...(field ? [field] : [])], context, type);
  return fromModel([part], context, left);
}

/** Parses the arguments of functions, which are JSON in a string; the input of other tools is used unchanged. */
function inputOf(value: unknown, type: string): Json {
  if (type !== "function_call" || typeof value !== "string") return value as Json;
  try {
    return parseJson(value) as Json;
  } catch {
    return value;
  }
}

function toolAnswered(item: JsonObject, type: string, context: ItemContext): ItemMeaning {
  const isList = item.output === undefined && item.tools !== undefined;
  const { extras, ...answer } = isList ? { output: [rawPart(item.tools)] } : toolOutput(item.output);
  const part: PartInput = { type: "tool-result", callId: callIdOf(item, context), ...answer };
  const left = leftOf(item, ["call_id", isList ? "tools" : "output"], context, type);
  return message("tool", { parts: [part], ...(extras && { extras }) }, left);
}

/** Converts an image generation; the image comes with the call itself. */
function pictureMade(item: JsonObject, context: ItemContext): ItemMeaning {
  const callId = callIdOf(item, context);
  const { result, revised_prompt: prompt } = item;
  const left = leftOf(item, ["result", "revised_prompt", "call_id"], context, "image_generation_call");
  const input = typeof prompt === "string" ? { revised_prompt: prompt } : {};
  const call = fromModel([{ type: "tool-call", callId, name: "image_generation", input }], context, left);
  if (typeof result !== "string" || result === "" || call.kind !== "message") return call;
  const { parts } = contentParts([{ type: "input_image", image_url: `data:image/png;base64,${result}` }]);
  return { ...call, results: { role: "tool", parts: [{ type: "tool-result", callId, output: parts }] } };
}

function callIdOf(item: JsonObject, context: ItemContext): string {
  return textOf(item.call_id) ?? textOf(item.id) ?? context.id;
}

function fromModel(parts: readonly PartInput[], context: ItemContext, left: Left): ItemMeaning {
  return message("assistant", { parts }, left, context.model);
}

type Left = { readonly [key: string]: Json } | undefined;

function message(
  role: MessageInput["role"],
  content: { readonly parts: readonly PartInput[]; readonly extras?: Json },
  left: Left,
  model?: string,
): ItemMeaning {
  const meta = { ...left, ...(content.extras === undefined ? {} : { extras: content.extras }) };
  return {
    kind: "message",
    message: {
      role,
      parts: content.parts,
      ...definedFields({ model }),
      ...(Object.keys(meta).length > 0 && { meta: { codex: meta } }),
    },
  };
}

const TYPES_TOLD_BY_PARTS: readonly string[] = ["function_call", "function_call_output"];

/** Returns fields that parts cannot represent. The turn of an item is left out if it is the current one. */
function leftOf(item: JsonObject, held: readonly string[], context: ItemContext, type?: string): Left {
  const own = ["metadata", "internal_chat_message_metadata_passthrough"].filter((name) => {
    const fields = objectOf(item[name]);
    return fields && context.turnId !== undefined && isOnlyTurn(fields, context.turnId);
  });
  const left = toldFields(item, ["type", ...held, ...own]);
  if (type === undefined || TYPES_TOLD_BY_PARTS.includes(type)) return left;
  return { type, ...left };
}

function isOnlyTurn(fields: JsonObject, turnId: string): boolean {
  return Object.keys(fields).length === 1 && fields.turn_id === turnId;
}
