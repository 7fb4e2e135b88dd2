import { checkList } from "../model/argument-checks.ts";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import type { Message } from "../model/message.ts";
import type { Part } from "../model/part.ts";
import { createModelCatalog, type ModelCatalog } from "./models/model-catalog.ts";
import { isReasoning } from "./models/thinking-rule.ts";
import type { PolicyLimits } from "./policy.ts";
import { findProtectedSeqs, findVerbatimSeqs } from "./protected-seqs.ts";
import { Meter } from "./session/meter.ts";
import type { WindowOptions } from "./session/session-window-options.ts";
import { createFloorError } from "./session/window-errors.ts";
import { computeCachePrices, resolveWindowSettings, type WindowSettings } from "./session/window-settings.ts";
import { type Slot, sumSlotTokens } from "./slot.ts";

/** An unstored conversation, fitted into a model's window. */
export interface FittedMessages {
  /** The messages to send; `seq` numbers the given messages from 1. */
  readonly slots: readonly Slot[];
  /** Tokens of the request as the provider is expected to count them, including system prompt and tools. */
  readonly tokens: number;
}

const ownCatalog = createModelCatalog();

/**
 * Fits a conversation into a model's window without storing anything. As long as the conversation only grows, decisions
 * made for earlier calls are reproduced, so the beginning of the window stays the same from call to call. Throws
 * WINDOW_FLOOR if the content that may not be cut does not fit.
 */
export function fitConversation(
  messages: readonly Message[],
  options: WindowOptions,
  catalogue: ModelCatalog = ownCatalog,
): FittedMessages {
  checkList("messages", messages, { parts: "array" });
  const settings = resolveWindowSettings(options, catalogue);
  const slots = messages.map(
    (message, index): Slot => ({ seq: index + 1, at: index, message, tokens: settings.tokensOf(message) }),
  );
  const meter = new Meter(settings.model, settings.facts.cacheMs);
  const limits = computePolicyLimits(settings, slots, meter);
  const fitted = isWithin(limits, slots) ? slots : replayPolicy(slots, settings, limits);
  return { slots: fitted, tokens: meter.counted(limits.system + sumSlotTokens(fitted)) };
}

function isWithin(
  { system, tokens, messages = Number.POSITIVE_INFINITY }: PolicyLimits,
  slots: readonly Slot[],
) {
  return system + sumSlotTokens(slots) <= tokens && slots.length <= messages;
}

/**
 * No provider has reported usage yet, so the limits use the most cautious estimates. Only content that may not be cut
 * can raise them.
 */
function computePolicyLimits(
  { limits, system, tools, isClipping, model }: WindowSettings,
  slots: readonly Slot[],
  meter: Meter,
): PolicyLimits {
  const kept = isClipping ? findVerbatimSeqs(slots) : findProtectedSeqs(slots);
  const floor = system + tools + sumSlotTokens(slots.filter(({ seq }) => kept.has(seq)));
  const counted = meter.counted(floor);
  if (counted > limits.most) throw createFloorError(counted, limits.most, model, isClipping);
  const tokens = Math.max(meter.estimatedWithin(limits.from), floor);
  return {
    tokens,
    window: Math.max(meter.estimatedWithin(limits.window), tokens),
    system: system + tools,
    provider: {
      window: limits.window,
      tokens: limits.most,
      counted: (estimated) => meter.counted(estimated),
    },
    ...dropUndefined({ messages: limits.messages }),
  };
}

/** Computes the next window by replaying the policy over all earlier calls, one before each reply. */
function replayPolicy(
  slots: readonly Slot[],
  { policy, tokensOf, facts }: WindowSettings,
  limits: PolicyLimits,
) {
  const run = policy.start(limits, tokensOf, { prices: computeCachePrices(facts) });
  for (const [index, slot] of slots.entries()) {
    if (index > 0 && slot.message.role === "assistant") run.fit({ isHot: true });
    run.observe(slot);
  }
  return run.fit({ isHot: true });
}

/**
 * Merges neighboring messages of the same role, for chat templates that require alternating roles. Messages with
 * reasoning are never merged, and nothing is merged into a message with a tool call, because its results must follow
 * it.
 */
export function alternateRoles(messages: readonly Message[]): readonly Message[] {
  checkList("messages", messages, { role: "name", parts: "array" });
  const merged: Message[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    // Other fields of the second message are dropped: they refer to its parts by index.
    if (last && canMerge(last, message))
      merged[merged.length - 1] = { ...last, parts: [...last.parts, ...message.parts] };
    else merged.push(message);
  }
  return merged;
}

function canMerge(first: Message, second: Message): boolean {
  const { role } = first;
  if (role !== second.role || (role !== "user" && role !== "assistant")) return false;
  return ![...first.parts, ...second.parts].some(isReasoning) && !first.parts.some(isCall);
}

function isCall(part: Part): boolean {
  return part.type === "tool-call" || (part.type === "blob" && part.of === "tool-call");
}
