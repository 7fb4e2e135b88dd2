import { countUsageTokens } from "../../model/task.ts";
import type { Usage } from "../../model/usage.ts";
import type { BudgetAmounts } from "../../team-entry.ts";
import { computeReportCost, mergeUsage } from "../../window-entry.ts";
import type { ReplyReader } from "../../wire/wire.ts";
import type { Exchange } from "../exchange/exchange-state.ts";

const BYTES_PER_TOKEN = 4;

/**
 * Settles the budgets of an exchange, before its client receives the end of the reply: a gateway that dies leaves no
 * estimate behind for a request that its client knows to be answered. Never throws.
 */
export async function settleSpending(exchange: Exchange): Promise<void> {
  const { spending } = exchange.incoming;
  reportSpending(exchange);
  if (!spending.isReadingOn) await spending.end();
}

/**
 * Reports the cost of an exchange to its budgets. `rest` has read the events after the client left. Without a final report
 * of the provider, the reply counts with the relayed output, and at least with the estimate: otherwise a client could leave
 * before the last event and pay nothing for the output.
 */
export function reportSpending(exchange: Exchange, rest?: ReplyReader): void {
  const { incoming, reply, request } = exchange;
  const { spending, signal } = incoming;
  if (!spending.isMeasured) return;
  const reader = reply?.recorder.reader;
  const reported = mergeUsage(reader?.usage, rest?.usage);
  const isComplete = (reader?.isComplete ?? false) || (rest?.isComplete ?? false);
  const hasRefused = reader?.failure !== undefined && !reader.hasBegun;
  if (reported && (hasRefused || (isComplete && isFinal(reported, reader)))) {
    spending.report(priceUsage(exchange, reported));
    return;
  }
  const isBackground = request.fields.all.background === true && reader !== undefined;
  const isAnswered = isComplete || reader?.hasBegun || reported !== undefined || isBackground;
  if (hasRefused || !(isAnswered || signal.aborted)) return;
  const { estimate } = spending;
  const relayed = Math.ceil((reader?.outputBytes ?? 0) / BYTES_PER_TOKEN);
  const outputTokens = Math.max(reported?.outputTokens ?? 0, relayed);
  const counted = priceUsage(exchange, { ...estimate.usage, ...reported, outputTokens });
  spending.report({
    tokens: Math.max(estimate.tokens, counted.tokens),
    usd: Math.max(estimate.usd ?? 0, counted.usd ?? 0),
  });
}

/** True if a report counts the output of a reply that has some. */
function isFinal({ outputTokens = 0 }: Usage, reader: ReplyReader | undefined): boolean {
  return outputTokens > 0 || (reader?.outputBytes ?? 0) === 0;
}

/** Tokens and dollars of a usage report. A reply of a model without a price costs as much as the model asked for. */
function priceUsage({ reply, services, target, incoming }: Exchange, usage: Usage): BudgetAmounts {
  const factsOf = (model: string) => services.kernel.modelFacts(model);
  const models = [reply?.recorder.reader.model, target.model, target.clientModel];
  const costs = models.map((model) => model && computeReportCost({ usage, model }, factsOf));
  const usd = costs.find((cost) => typeof cost === "number") ?? incoming.spending.estimate.usd;
  return { tokens: countUsageTokens(usage), usd };
}
