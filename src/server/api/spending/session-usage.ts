import {
  addReport,
  addTotals,
  countPromptTokens,
  EMPTY_LEDGER,
  isSumUsage,
  type Ledger,
  type ModelFacts,
  type ModelFactsLookup,
  NO_TOTALS,
  type Totals,
} from "../../../kernel/faces/window.ts";
import type { Session } from "../../../kernel/index.ts";
import { readUsageEntries } from "../../../kernel/usage/request-usage.ts";

import {
  addSavingsReport,
  copySavings,
  NO_SAVINGS_SUMS,
  type SavingsSums,
  settleSavings,
} from "./savings-sums.ts";

/** Later reports of a request are expected no longer than this after its session's last entry. */
const SETTLED_MS = 3_600_000;

/** The usage of a session up to a seq, by model and day. Every report counts, also on abandoned lines. */
export interface SessionUsage {
  readonly through: number;
  readonly models: ReadonlyMap<string, Ledger>;
  readonly savings: SavingsSums;
  /** Tokens of its longest request, without edits. */
  readonly longestTokens: number;
}

export const NO_USAGE: SessionUsage = {
  through: 0,
  models: new Map(),
  savings: NO_SAVINGS_SUMS,
  longestTokens: 0,
};

/** The name of usage without a model. */
export const UNKNOWN_NAME = "(unknown)";

/** Continues the sums of a session with the reports after `known`. */
export async function readSessionUsage(
  session: Session,
  known: SessionUsage,
  factsOf: ModelFactsLookup,
): Promise<SessionUsage> {
  const { seq: head, at } = await session.head();
  if (head <= known.through) return known;
  const models = new Map(known.models);
  const savings = copySavings(known.savings);
  let { longestTokens } = known;
  for await (const entry of readUsageEntries(session, known.through + 1)) {
    const model = entry.model ?? UNKNOWN_NAME;
    models.set(model, addReport(models.get(model) ?? EMPTY_LEDGER, { at: entry.at, body: entry }, factsOf));
    const { removedTokens } = addSavingsReport(savings, entry, factsOf);
    const promptTokens = isSumUsage(entry) ? 0 : countPromptTokens(entry.usage) || 0;
    longestTokens = Math.max(longestTokens, promptTokens + Math.max(0, removedTokens));
  }
  // The latest requests are only needed while a report may still be replaced; they are most of a ledger's size.
  if (at >= Date.now() - SETTLED_MS) return { through: head, models, savings, longestTokens };
  for (const [model, ledger] of models) models.set(model, { ...ledger, recent: [] });
  return { through: head, models, savings: settleSavings(savings), longestTokens };
}

/** The part of the cost that went for prompts, which edits can lower; the rest is the price of the output. */
export function computePromptCost({ cost, outputTokens }: Totals, facts: ModelFacts | undefined): number {
  return Math.max(0, cost - (outputTokens * (facts?.prices.output ?? 0)) / 1_000_000);
}

/** The totals of a session. */
export function sumSessionUsage({ models }: SessionUsage): Totals {
  return [...models.values()].reduce((sum, { session }) => addTotals(sum, session), NO_TOTALS);
}
