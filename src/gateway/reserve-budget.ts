import { findOrigin } from "../model/session-origin.ts";
import type { BudgetAmounts } from "../team-entry.ts";
import { computeUsageCost } from "../window-entry.ts";
import { toNumber } from "../wire/fields.ts";
import type { Incoming } from "./door/incoming.ts";
import type { Services } from "./exchange/services.ts";
import { OUTPUT_FIELDS } from "./request/output-fields.ts";
import type { ParsedRequest } from "./request/read-request.ts";
import type { Thread } from "./thread/thread.ts";
import type { Target } from "./upstream/target.ts";

/** Clients ask for far more output than they use. */
const MAX_ESTIMATED_OUTPUT = 4_096;
const BYTES_PER_TOKEN = 4;
const WARNING_HEADER = "x-longhaul-budget-warning";

/**
 * Reserves the estimated cost of a request in its budgets and tells of those that are nearly used up; undefined if the
 * store is known to have none.
 */
export function reserveBudget(
  request: ParsedRequest,
  target: Target,
  incoming: Incoming,
  services: Services,
  thread: Thread,
): Promise<void> | undefined {
  const isInUse = services.spending.state.isInUse();
  return isInUse === false ? undefined : reserve(request, target, incoming, services, thread, isInUse);
}

async function reserve(
  request: ParsedRequest,
  target: Target,
  incoming: Incoming,
  services: Services,
  thread: Thread,
  isInUse: boolean | Promise<boolean>,
): Promise<void> {
  if (!(await isInUse)) return;
  const { project } = findOrigin(await thread.session.record());
  const warnings = await incoming.spending.reserve(
    { project, model: target.model },
    estimateRequest(request, target, incoming, services),
  );
  const [first] = warnings;
  if (!first) return;
  if (!incoming.response.headersSent) incoming.response.setHeader(WARNING_HEADER, toHeaderText(first.text));
  for (const { text } of warnings.filter(({ isNew }) => isNew)) {
    services.onBudgetWarning(text);
    const { conversation, session } = thread;
    await conversation
      .runInTurn(async () => conversation.recordAppended([await session.note(text)]))
      .catch(services.onStoreFailure);
  }
}

/** A text without the characters that a header cannot hold, such as those of a name. */
function toHeaderText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?");
}

/** Estimates a request before its window is fitted, at prices without a cache. */
function estimateRequest(
  { fields }: ParsedRequest,
  { model, clientModel }: Target,
  { body }: Incoming,
  { kernel }: Services,
): BudgetAmounts {
  const own = kernel.modelFacts(model);
  const facts = own.arePricesAssumed ? kernel.modelFacts(clientModel) : own;
  const limits = OUTPUT_FIELDS.flatMap((name) => toNumber(fields.all[name]) ?? []);
  const inputTokens = Math.min(Math.ceil(body.length / BYTES_PER_TOKEN), facts.window);
  const outputTokens = Math.min(MAX_ESTIMATED_OUTPUT, facts.maxOutput, ...limits);
  const usd = facts.arePricesAssumed ? undefined : computeUsageCost({ inputTokens, outputTokens }, facts);
  return { tokens: inputTokens + outputTokens, usd };
}
