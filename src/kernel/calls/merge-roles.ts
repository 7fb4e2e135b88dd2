/** Formats in which neighboring messages of one role can be merged. */
type MergeableFormat = "anthropic" | "openai-chat" | "openai-responses" | "google" | "ai-sdk";

type Fields = { readonly [field: string]: unknown };

/** Fields with reasoning as plain text. */
const PLAIN_REASONING: readonly string[] = ["reasoning_content", "reasoning"];
/** Types of blocks and parts with reasoning; providers check that these are unchanged. */
const REASONING: readonly unknown[] = ["thinking", "redacted_thinking", "reasoning"];
/** Types of blocks and parts that a result must follow immediately. */
const CALLS: readonly unknown[] = ["tool_use", "tool-call"];
/** Fields that identify an item at the provider. */
const ITEM_FIELDS: readonly string[] = ["id", "status"];
const BLANK_LINE = "\n\n";

/**
 * Merges two neighboring messages of one role, as strict chat templates require. Each text stays verbatim and in one
 * piece. Returns undefined if roles or names differ, or if the merge would change reasoning or a call.
 */
export function mergeRoles(format: MergeableFormat, first: Fields, second: Fields): Fields | undefined {
  if (!canMergeRoles(format, first, second)) return undefined;
  const fields = mergeFields(format, first, second);
  if (!fields) return undefined;
  const carried = format === "ai-sdk" ? moveOptionsToLastPart(first) : first;
  return { ...fields, content: mergeContents(format, carried, second) };
}

/** Tells whether `mergeRoles` merges these two messages. */
export function canMergeRoles(format: MergeableFormat, first: Fields, second: Fields): boolean {
  const { role } = first;
  if (role !== second.role || (role !== "user" && role !== "assistant")) return false;
  if (!isMessage(format, first) || !isMessage(format, second)) return false;
  if (role === "assistant") {
    if (hasBlock(first, REASONING) || hasBlock(second, REASONING) || hasBlock(first, CALLS)) return false;
    if (hasItems(first.tool_calls) || isPresent(first.function_call)) return false;
    if (isPresent(first.reasoning_details) || isPresent(second.reasoning_details)) return false;
  }
  return mergeFields(format, first, second) !== undefined;
}

/** Responses items other than messages have no role. */
function isMessage(format: MergeableFormat, { type }: Fields): boolean {
  return format !== "openai-responses" || type === undefined || type === "message";
}

/** Merges the fields other than the content; undefined if both messages have different values in one of them. */
function mergeFields(format: MergeableFormat, first: Fields, second: Fields): Fields | undefined {
  const merged: Record<string, unknown> = { ...first };
  for (const [field, value] of Object.entries(second)) {
    if (field === "content") continue;
    if (format === "openai-responses" && ITEM_FIELDS.includes(field)) continue;
    const own = merged[field];
    if (format === "ai-sdk" && field === "providerOptions") merged[field] = value;
    else if (!isPresent(own)) merged[field] = value;
    else if (!isPresent(value) || JSON.stringify(own) === JSON.stringify(value)) continue;
    else if (PLAIN_REASONING.includes(field) && typeof own === "string" && typeof value === "string")
      merged[field] = own + BLANK_LINE + value;
    else return undefined;
  }
  // The options of a message apply to its last part, which is now the second message's.
  if (format === "ai-sdk" && second.providerOptions === undefined) delete merged.providerOptions;
  return merged;
}

function mergeContents(format: MergeableFormat, first: Fields, second: Fields): unknown {
  const { content: one } = first;
  const { content: other } = second;
  if (isEmpty(one)) return other;
  if (isEmpty(other)) return one;
  if (typeof one === "string" && typeof other === "string") return one + BLANK_LINE + other;
  const blocks = [...toBlocks(format, first), ...toBlocks(format, second)];
  if (format !== "anthropic" || first.role !== "user") return blocks;
  // Anthropic requires results before all other blocks.
  const isResult = (block: unknown) => getBlockType(block) === "tool_result";
  return [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))];
}

function toBlocks(format: MergeableFormat, { role, content }: Fields): readonly unknown[] {
  if (Array.isArray(content)) return content;
  if (format !== "openai-responses") return [{ type: "text", text: content }];
  return [{ type: role === "assistant" ? "output_text" : "input_text", text: content }];
}

/** Moves the options of an AI SDK message, such as a cache marker, to the part that they apply to. */
function moveOptionsToLastPart(message: Fields): Fields {
  const { providerOptions, content } = message;
  if (providerOptions === undefined) return message;
  const parts = toBlocks("ai-sdk", message);
  const last = parts.at(-1);
  if (typeof last !== "object" || last === null || isEmpty(content)) return message;
  const { providerOptions: own } = last as Fields;
  const options = { ...(providerOptions as object), ...(own as object | undefined) };
  return { ...message, content: [...parts.slice(0, -1), { ...last, providerOptions: options }] };
}

function hasBlock({ content }: Fields, types: readonly unknown[]): boolean {
  return Array.isArray(content) && content.some((block) => types.includes(getBlockType(block)));
}

function getBlockType(block: unknown): unknown {
  return typeof block === "object" && block !== null ? (block as Fields).type : undefined;
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function hasItems(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

function isEmpty(content: unknown): boolean {
  return !isPresent(content) || content === "" || (Array.isArray(content) && content.length === 0);
}
