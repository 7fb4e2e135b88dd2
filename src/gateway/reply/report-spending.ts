import { addReport, EMPTY_LEDGER } from "../../window-entry.ts";
import type { Exchange } from "../exchange/exchange-state.ts";

/**
 * Settles the budgets of an exchange, before its client receives the end of the reply: a gateway that dies leaves no
 * estimate behind for a request that its client knows to be answered. Never throws.
 */
export async function settleSpending(exchange: Exchange): Promise<void> {
  reportSpending(exchange);
  await exchange.incoming.spending.end();
}

/** Reports the actual cost of an exchange to its budgets; the estimate if the provider reported no usage. */
export function reportSpending({ call, incoming, reply, services }: Exchange): void {
  const { spending } = incoming;
  const { reported } = call;
  if (reported) {
    const factsOf = (model: string) => services.kernel.modelFacts(model);
    const { session } = addReport(EMPTY_LEDGER, { at: Date.now(), body: reported }, factsOf);
    const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, cost, unpricedRequests } = session;
    spending.report({
      tokens: inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens,
      usd: unpricedRequests > 0 ? spending.estimate.usd : cost,
    });
  } else if (reply?.recorder.reader.hasBegun) spending.report(spending.estimate);
}
