import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { CacheState, Comparison, Receipt } from "../../model/receipt.ts";
import { findLostThinking, sumThinkingTokens } from "../living-thinking.ts";
import type { ModelFacts, Prices } from "../models/model-data.ts";
import { RETHINK_SHARE } from "../money/break-even.ts";
import { type Slot, sumSlotTokens } from "../slot.ts";
import { findRemovedNames } from "./find-removed-names.ts";
import type { PlannedEdit } from "./fitted-window.ts";
import type { LoadedWindow } from "./load-window.ts";
import type { Meter } from "./meter.ts";
import type { ProposedWindow } from "./policy-planner.ts";
import { estimateRequest, type WindowSettings } from "./window-settings.ts";

/** The call that an edit is planned for. */
interface PlannedCall {
  readonly settings: WindowSettings;
  readonly meter: Meter;
  readonly cache: CacheState;
  readonly expectedCalls: number;
  /** The messages of the last request. */
  readonly lastSent: readonly Slot[];
}

/** An edit that turns a window into a proposed one, with its receipt. */
export function planEdit(
  { settings, meter, cache, expectedCalls, lastSent }: PlannedCall,
  { slots: before, unread }: LoadedWindow,
  { slots: after, isForced, reason }: Pick<ProposedWindow, "slots" | "isForced" | "reason">,
): PlannedEdit {
  const { model, policy } = settings;
  const facts = meter.isUncached ? dropCachePrices(settings.facts) : settings.facts;
  const receipt = buildReceipt({
    model,
    facts,
    policy: policy.name,
    cache,
    isForced,
    expectedCalls,
    system: estimateRequest(settings, []),
    sent: lastSent,
    before,
    after,
    unread: unread ? unread.to - unread.from + 1 : 0,
    counted: (estimated) => meter.counted(estimated),
    thinking: findThinkingLoss(settings, meter, before, after),
  });
  return { reason, receipt };
}

/** The thinking that an edit takes from the model, and the price of thinking a part of it again. */
function findThinkingLoss(
  { facts, tokensOf }: WindowSettings,
  meter: Meter,
  before: readonly Slot[],
  after: readonly Slot[],
): Receipt["thinking"] {
  const lost = facts.thinking === "bound" ? findLostThinking(before, after) : [];
  if (lost.length === 0) return undefined;
  const tokens = Math.round(meter.counted(sumThinkingTokens(lost, tokensOf)));
  const rethinking = Math.round(tokens * RETHINK_SHARE * facts.prices.output) / 1_000_000;
  return { replies: lost.length, tokens, rethinking };
}

/** The facts of a model whose provider reports no cache: every prompt token costs as much as an input token. */
function dropCachePrices(facts: ModelFacts): ModelFacts {
  const { longPrompt } = facts;
  const plain = { ...facts, prices: dropFrom(facts.prices) };
  return longPrompt
    ? { ...plain, longPrompt: { ...longPrompt, prices: dropFrom(longPrompt.prices) } }
    : plain;
}

function dropFrom(prices: Prices): Prices {
  const { input } = prices;
  return { ...prices, cacheRead: input, cacheWrite: input, cacheWriteHour: input };
}

/** Input of a receipt; windows are in estimated tokens. */
interface ReceiptInput {
  readonly model: string;
  readonly facts: ModelFacts;
  readonly policy: string;
  readonly cache: CacheState;
  readonly isForced: boolean;
  readonly expectedCalls: number;
  /** Tokens of system prompt and tools. */
  readonly system: number;
  /** The last request; `before` and `after` are the next one without and with the edit. */
  readonly sent: readonly Slot[];
  readonly before: readonly Slot[];
  readonly after: readonly Slot[];
  /** Number of further messages that left because they were too many to read. */
  readonly unread: number;
  /** Converts estimated tokens to the provider's count. */
  readonly counted: (estimated: number) => number;
  readonly thinking: Receipt["thinking"];
}

/** Computes the cost and savings of an edit and the names it removes. */
function buildReceipt(bill: ReceiptInput): Receipt {
  const { facts, cache, counted } = bill;
  const tokens = {
    without: counted(bill.system + sumSlotTokens(bill.before)),
    with: counted(bill.system + sumSlotTokens(bill.after)),
  };
  const isCached = cache !== "cold" && bill.sent.length > 0;
  const cached = {
    without: isCached ? counted(countSharedTokens(bill, bill.before)) : 0,
    with: isCached ? counted(countSharedTokens(bill, bill.after)) : 0,
  };
  const thisCall = compareFigures((which) =>
    priceTokens(facts, tokens[which], (prices) => [
      [cached[which], prices.cacheRead],
      [tokens[which] - cached[which], prices.cacheWrite],
    ]),
  );
  const nextCalls = compareFigures((which) =>
    priceTokens(facts, tokens[which], (prices) => [[tokens[which], prices.cacheRead]]),
  );
  const kept = new Set(bill.after.flatMap(({ seq, isNote }) => (isNote ? [] : [seq])));
  const gone = bill.before.filter(({ seq, isNote }) => !isNote && !kept.has(seq)).length;
  return {
    model: bill.model,
    policy: bill.policy,
    cache,
    isForced: bill.isForced,
    tokens,
    cachedShare: compareFigures((which) => computeShare(cached[which], tokens[which])),
    thisCall,
    nextCalls,
    ...(facts.arePricesAssumed && { arePricesAssumed: true as const }),
    breakEvenCalls: computeBreakEven(thisCall, nextCalls, bill.thinking?.rethinking),
    expectedCalls: bill.expectedCalls,
    left: { entries: gone + bill.unread, ...findRemovedNames(bill.before, bill.after) },
    ...dropUndefined({ thinking: bill.thinking }),
  };
}

/** Number of further calls after which a more expensive call has paid for itself; null if it never does. */
function computeBreakEven(thisCall: Comparison, nextCalls: Comparison, rethinking = 0): number | null {
  const extra = thisCall.with - thisCall.without + rethinking;
  if (extra <= 0) return 0;
  const saved = nextCalls.without - nextCalls.with;
  return saved > 0 ? Math.ceil(extra / saved) : null;
}

/** Tokens of the prefix that the next request shares with the last one. */
function countSharedTokens({ system, sent }: ReceiptInput, slots: readonly Slot[]): number {
  let shared = system;
  for (const [index, slot] of slots.entries()) {
    if (sent[index]?.message !== slot.message) break;
    shared += slot.tokens;
  }
  return shared;
}

function computeShare(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 1_000) / 1_000;
}

function compareFigures(figure: (which: "without" | "with") => number): Comparison {
  return { without: figure("without"), with: figure("with") };
}

/** Token counts of a prompt, each with its price in US dollars per million. */
type PricedTokens = readonly (readonly [tokens: number, price: number])[];

/** US dollars of a prompt; long prompts may have their own prices. */
function priceTokens(
  facts: ModelFacts,
  promptTokens: number,
  itemsAt: (prices: Prices) => PricedTokens,
): number {
  const isLong = facts.longPrompt !== undefined && promptTokens > facts.longPrompt.above;
  const prices = isLong ? facts.longPrompt.prices : facts.prices;
  const sum = itemsAt(prices).reduce((total, [tokens, price]) => total + tokens * price, 0);
  return Math.round(sum) / 1_000_000;
}
