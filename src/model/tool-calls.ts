import { checkFields } from "./argument-checks.ts";
import type { Json } from "./json.ts";
import type { Message, MessageInput } from "./message.ts";
import type { BlobPart, Part, PartInput, ToolCallPart } from "./part.ts";

/**
 * The id of a raw call of a foreign format, such as an approval request or a call of a tool that the provider runs;
 * undefined for other parts.
 */
export function findRawCallId(part: PartInput): string | undefined {
  return findRawId(part, CALLS);
}

/** The id of the raw call that a part answers. */
export function findRawAnswerId(part: PartInput): string | undefined {
  return findRawId(part, ANSWERS);
}

/** The id of the call that a raw result of a provider's own tool answers; its API refuses it without the call. */
export function findServerAnswerId(part: PartInput): string | undefined {
  return findRawId(part, [SERVER_ANSWER]);
}

/** Recognizes a raw value by its type and locates its id. */
interface Form {
  readonly type: RegExp;
  readonly field: string;
  /** The same for a JSON preview of head and tail. */
  readonly preview: RegExp;
  readonly previewId: RegExp;
}

function createForm(type: string, field: string, previewType = type): Form {
  return {
    type: new RegExp(`^${type}$`),
    field,
    preview: new RegExp(`"type":"${previewType}"`),
    previewId: new RegExp(`"${field}":"([^"]+)"`),
  };
}

const SERVER_ANSWER = createForm("\\w+_tool_result", "tool_use_id");

const CALLS: readonly Form[] = [
  createForm("(?:server|mcp)_tool_use", "id"),
  createForm("mcp_approval_request", "id"),
  createForm("\\w+_call", "call_id"),
];

const ANSWERS: readonly Form[] = [
  SERVER_ANSWER,
  createForm("mcp_approval_response", "approval_request_id"),
  // Blocks inside a result may be named like an output, so a preview needs the exact names.
  createForm("\\w+_output", "call_id", "(?:\\w+_call|tool_search)_output"),
];

function findRawId(part: PartInput, forms: readonly Form[]): string | undefined {
  if (part.type === "raw") return findId(part.value, forms);
  if (part.type !== "blob" || part.of !== "raw" || part.preview === undefined) return undefined;
  const { preview } = part;
  const form = forms.find((known) => known.preview.test(preview));
  return form?.previewId.exec(preview)?.[1];
}

function findId(value: Json, forms: readonly Form[]): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const fields = value as { readonly [field: string]: Json };
  const { type } = fields;
  if (typeof type !== "string") return undefined;
  const form = forms.find((known) => known.type.test(type));
  const id = form && fields[form.field];
  return typeof id === "string" ? id : undefined;
}

/**
 * Names of the tools that a part makes known to the model: the result of a tool search names definitions that the model
 * sees only there. A search that is stored as a blob has its digest for a name.
 */
export function listLoadedTools(part: Part): readonly string[] {
  if (part.type === "tool-result") return part.output.flatMap(listLoadedTools);
  if (part.type === "blob") return part.of === "raw" && LOADING.test(part.preview ?? "") ? [part.digest] : [];
  return part.type === "raw" ? listNamedTools(part.value) : [];
}

const LOADING = /"type":"(?:tool_search_(?:tool_result|output)|additional_tools)"/;
const MAX_DEPTH = 4;

/** Names in `tool_reference` blocks, in lists of them, and in the lists of tools that a search of OpenAI returns. */
function listNamedTools(value: Json, depth = 0): readonly string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value) || depth > MAX_DEPTH) return [];
  const { type, tool_name, tool_references, content, tools } = value as { readonly [field: string]: Json };
  if (type === "tool_reference") return typeof tool_name === "string" ? [tool_name] : [];
  if (type === "tool_search_output" || type === "additional_tools")
    return (Array.isArray(tools) ? tools : []).flatMap((tool) => findToolName(tool));
  if (typeof type !== "string" || !/^tool_search_tool_(?:result|search_result)$/.test(type)) return [];
  const inner = Array.isArray(tool_references) ? tool_references : [content ?? null];
  return inner.flatMap((one) => listNamedTools(one, depth + 1));
}

function findToolName(tool: Json): readonly string[] {
  const { name } = Object(tool) as { readonly name?: Json };
  return typeof name === "string" ? [name] : [];
}

/** Ids of the calls in a message that a program of the provider made; their results go to the program, not to the model. */
export function listProgramCalls({ meta, parts }: Message): readonly string[] {
  if (!meta) return [];
  return Object.values(meta).flatMap((own) => {
    const { extras } = Object(own) as { readonly extras?: { readonly [index: string]: Json } };
    return Object.entries(extras ?? {}).flatMap(([index, fields]) => {
      const { caller } = Object(fields) as { readonly caller?: Json };
      const { type } = Object(caller) as { readonly type?: Json };
      const part = parts[Number(index)];
      const isCall = part?.type === "tool-call" || part?.type === "blob";
      if (!isCall || typeof type !== "string" || type === "direct" || part.callId === undefined) return [];
      return [part.callId];
    });
  });
}

/** Shared, because most messages have neither calls nor results and these functions are called often. */
const NONE: string[] = [];

/** True for a tool call, including one that was too large for the log. */
export function isCall(part: PartInput): part is ToolCallPart | BlobPart {
  return part.type === "tool-call" || (part.type === "blob" && part.of === "tool-call");
}

/**
 * Ids of a message's calls in order, including raw calls of foreign formats; not those that a provider's own tool answers
 * within the message, because they bind no other message.
 */
export function listCallIds(message: Pick<Message | MessageInput, "parts">): readonly string[] {
  const { parts = [] } = checkFields("message", message, { parts: "array?" });
  return listIds(parts, false);
}

/** Ids of the calls that a message has results for, except raw calls in the same message. */
export function listAnsweredCallIds({
  parts = [],
}: Pick<Message | MessageInput, "parts">): readonly string[] {
  return listIds(parts, true);
}

function listIds(parts: readonly PartInput[], areAnswers: boolean): readonly string[] {
  const [findRaw, findPartner] = areAnswers
    ? [findRawAnswerId, findRawCallId]
    : [findRawCallId, findRawAnswerId];
  let ids: string[] = NONE;
  for (const part of parts) {
    const rawId = part.type === "raw" || part.type === "blob" ? findRaw(part) : undefined;
    let id = rawId;
    if (areAnswers && part.type === "tool-result") id = part.callId;
    else if (!areAnswers && isCall(part)) id ??= part.callId;
    if (id === undefined) continue;
    if (rawId !== undefined && parts.some((other) => findPartner(other) === rawId)) continue;
    if (ids === NONE) ids = [id];
    else ids.push(id);
  }
  return ids;
}
