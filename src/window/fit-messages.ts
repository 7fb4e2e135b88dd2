import { checkList } from "../model/arguments.ts";
import type { Message } from "../model/message.ts";
import { floorError } from "./live/errors.ts";
import { Meter } from "./live/meter.ts";
import type { WindowOptions } from "./live/options.ts";
import { cachePricesOf, type Settings, settingsOf } from "./live/settings.ts";
import { type ModelCatalogue, modelCatalogue } from "./models/model-catalogue.ts";
import type { Budget } from "./policy.ts";
import { protectedSeqs, verbatimSeqs } from "./protected.ts";
import { sizeOf } from "./size.ts";
import type { Slot } from "./slot.ts";

/** An unstored conversation, fitted into a model's window. */
export interface FittedMessages {
  /** The messages to send; `seq` numbers the given messages from 1. */
  readonly slots: readonly Slot[];
  /** Tokens of the request as the provider is expected to count them, including system prompt and tools. */
  readonly tokens: number;
}

const ownCatalogue = modelCatalogue();

/**
 * Fits a conversation into a model's window without storing anything. As long as the conversation only grows, decisions
 * made for earlier calls are reproduced, so the beginning of the window stays the same from call to call. Throws
 * WINDOW_FLOOR if the content that may not be cut does not fit.
 */
export function fitMessages(
  messages: readonly Message[],
  options: WindowOptions,
  catalogue: ModelCatalogue = ownCatalogue,
): FittedMessages {
  checkList("messages", messages, { parts: "array" });
  const settings = settingsOf(options, catalogue);
  const slots = messages.map(
    (message, index): Slot => ({ seq: index + 1, at: index, message, tokens: settings.tokensOf(message) }),
  );
  const meter = new Meter(settings.model);
  const budget = budgetOf(settings, slots, meter);
  const fitted = isWithin(budget, slots) ? slots : replayed(slots, settings, budget);
  return { slots: fitted, tokens: meter.counted(budget.system + sizeOf(fitted)) };
}

function isWithin({ system, tokens, messages = Number.POSITIVE_INFINITY }: Budget, slots: readonly Slot[]) {
  return system + sizeOf(slots) <= tokens && slots.length <= messages;
}

/**
 * No provider has reported usage yet, so the budget uses the most cautious estimates. Only content that may not be cut
 * can raise it.
 */
function budgetOf(
  { limits, system, tools, isClipping, model }: Settings,
  slots: readonly Slot[],
  meter: Meter,
): Budget {
  const kept = isClipping ? verbatimSeqs(slots) : protectedSeqs(slots);
  const floor = system + tools + sizeOf(slots.filter(({ seq }) => kept.has(seq)));
  const counted = meter.counted(floor);
  if (counted > limits.most) throw floorError(counted, limits.most, model, isClipping);
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
    ...(limits.messages !== undefined && { messages: limits.messages }),
  };
}

/** Computes the next window by replaying the policy over all earlier calls, one before each reply. */
function replayed(slots: readonly Slot[], { policy, tokensOf, facts }: Settings, budget: Budget) {
  const prices = cachePricesOf(facts);
  const run = policy.start(budget, tokensOf, prices ? { prices } : {});
  for (const [index, slot] of slots.entries()) {
    if (index > 0 && slot.message.role === "assistant") run.fit({ isHot: true });
    run.observe(slot);
  }
  return run.fit({ isHot: true });
}
