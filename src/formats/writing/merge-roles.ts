/** Formats in which neighbouring messages of one role can be merged. */
export type MergeableFormat = "anthropic" | "openai-chat" | "openai-responses" | "ai-sdk";

type Fields = { readonly [field: string]: unknown };

/** Reasoning that a message carries as plain text. */
const PLAIN_REASONING: readonly string[] = ["reasoning_content", "reasoning"];
/** Blocks and parts that hold reasoning; providers check that they come back unchanged. */
const REASONING: readonly unknown[] = ["thinking", "redacted_thinking", "reasoning"];
/** Blocks and parts that a result must follow at once. */
const CALLS: readonly unknown[] = ["tool_use", "tool-call"];
/** Fields of an item that name it on the provider's side. */
const ITEM_FIELDS: readonly string[] = ["id", "status"];
const BLANK_LINE = "\n\n";

/**
 * Merges two neighbouring messages of one role into one, as strict chat templates want it. Each text stays verbatim and in
 * one piece. Undefined if they have different roles or names, or cannot be merged without touching reasoning or a call.
 */
export function mergeRoles(format: MergeableFormat, first: Fields, second: Fields): Fields | undefined {
  if (!canMergeRoles(format, first, second)) return undefined;
  const fields = mergeFields(format, first, second);
  if (!fields) return undefined;
  const carried = format === "ai-sdk" ? withOptionsOnLastPart(first) : first;
  return { ...fields, content: mergeContents(format, carried, second) };
}

/** True if `mergeRoles` merges these two messages. */
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

/** Items of Responses that are no messages have no role of their own. */
function isMessage(format: MergeableFormat, { type }: Fields): boolean {
  return format !== "openai-responses" || type === undefined || type === "message";
}

/** The fields beside the content; undefined if both messages say different things in one of them. */
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
  // The options of a message hold for its last part, which is now the second message's.
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
  // Anthropic wants results before all else.
  const isResult = (block: unknown) => typeOf(block) === "tool_result";
  return [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))];
}

function toBlocks(format: MergeableFormat, { role, content }: Fields): readonly unknown[] {
  if (Array.isArray(content)) return content;
  if (format !== "openai-responses") return [{ type: "text", text: content }];
  return [{ type: role === "assistant" ? "output_text" : "input_text", text: content }];
}

/** A message of the AI SDK whose options, such as a cache marker, stand on the part that they hold for. */
function withOptionsOnLastPart(message: Fields): Fields {
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
  return Array.isArray(content) && content.some((block) => types.includes(typeOf(block)));
}

function typeOf(block: unknown): unknown {
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
