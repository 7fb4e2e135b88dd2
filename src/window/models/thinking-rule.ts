import type { Message } from "../../model/message.ts";
import { parseModelId } from "../../model/model-id.ts";
import type { Part } from "../../model/part.ts";
import { hasChatReasoning } from "../../wire/openai-chat/openai-chat-message.ts";
import type { WireName } from "../../wire/wire.ts";

/**
 * The demand of a provider on the reasoning that a request sends back.
 *
 * - `bound`: a reply's reasoning is valid only behind the prefix that it was produced from; after a change of the prefix it
 *   is refused or dropped, with all reasoning behind it.
 * - `whole`: as long as a reply stays, its reasoning stays as it was, and it leaves only with the whole reply.
 * - `free`: reasoning may leave by itself, and changes before it do not touch it.
 */
export type ThinkingRule = "bound" | "whole" | "free";

/** Claude models that were released before thinking was bound; every later or unknown one is taken to bind it. */
const FREE_CLAUDE =
  /^claude-(?:v?[123](?:\D|$)|instant|mythos-preview|(?:opus|sonnet|haiku)-[34](?:\D|$)|[a-z]+-5(?![-.]\d{1,2}(?:\D|$)))/;

/** The first version of GPT whose reasoning items are dropped behind a changed prefix. */
const BOUND_GPT = 5.6;

/** The rule of a model by its name; undefined for an unknown model, whose API then decides. */
export function findThinkingRule(id: string): ThinkingRule | undefined {
  const { name } = parseModelId(id);
  if (/^claude(?:-|$)/.test(name)) return FREE_CLAUDE.test(name) ? "free" : "bound";
  const gpt = /^(?:openai[-.])?gpt-(\d+(?:[.-]\d(?!\d))?)/.exec(name)?.[1];
  if (gpt !== undefined) return Number(gpt.replace("-", ".")) >= BOUND_GPT ? "bound" : "free";
  if (/^(?:o[134]|gemini)(?:-|$)/.test(name)) return "free";
  if (/^(?:deepseek|kimi|moonshot|glm|qwen|qwq|minimax|mimo)/.test(name)) return "whole";
  return undefined;
}

/**
 * The rule of a request: its model's, made stricter by its API. In Chat Completions, reasoning is a field of its reply and
 * stays with it; an unknown model is treated like the newest of the API's own provider.
 */
export function resolveThinkingRule(
  rule: ThinkingRule | undefined,
  wire: WireName | undefined,
): ThinkingRule {
  if (rule === "bound") return rule;
  if (wire === "openai-chat") return "whole";
  if (rule !== undefined || wire === "google") return rule ?? "free";
  return "bound";
}

/** True for a reply that a provider accepts only with its reasoning, by the model and the API that it came from. */
export function needsReasoning(message: Message): boolean {
  const rule = message.model === undefined ? undefined : findThinkingRule(message.model);
  return rule === "whole" || (rule !== "bound" && hasChatReasoning(message));
}

/** True if a message contains reasoning. */
export function hasReasoning({ parts }: Message): boolean {
  return parts.some(isReasoning);
}

/** True for a thought of the model, also one that is stored apart. */
export function isReasoning(part: Part): boolean {
  return part.type === "reasoning" || (part.type === "blob" && part.of === "reasoning");
}
