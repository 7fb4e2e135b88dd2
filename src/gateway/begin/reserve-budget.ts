import { findOrigin, type SessionOrigin } from "../../model/session-origin.ts";
import { computeUsageCost } from "../../window-entry.ts";
import { toNumber } from "../../wire/fields.ts";
import { findPriceFactor } from "../../wire/usage/usage-counts.ts";
import type { SpendingEstimate } from "../budget/request-spending.ts";
import type { Incoming } from "../door/incoming.ts";
import type { Services } from "../exchange/services.ts";
import type { ParsedRequest } from "../request/read-request.ts";
import { findOutputLimit } from "../request/request-fields.ts";
import { findNamedModels } from "../request/stream-usage.ts";
import type { Thread } from "../thread/thread.ts";
import type { Target } from "../upstream/target.ts";

/** Clients ask for far more output than they use. */
const MAX_ESTIMATED_OUTPUT = 4_096;
const BYTES_PER_TOKEN = 4;
/** No API writes more replies to one request. */
const MAX_CHOICES = 128;
const WARNING_HEADER = "x-longhaul-budget-warning";

/** Reserves the estimated cost of a request before its conversation is found, so that a refused one makes none. */
export async function reserveBudget(
  request: ParsedRequest,
  target: Target,
  incoming: Incoming,
  services: Services,
): Promise<void> {
  const { project } = request.facts;
  const origin = findOrigin({ id: "", meta: project === undefined ? {} : { project } });
  await reserve(request, target, incoming, services, origin);
}

/** Corrects the reservation once the project of the conversation is known, and tells of budgets that are nearly used up. */
export async function confirmBudget(
  request: ParsedRequest,
  target: Target,
  incoming: Incoming,
  services: Services,
  thread: Thread,
): Promise<void> {
  if (!(await services.spending.state.isInUse())) return;
  const origin = findOrigin(await thread.session.record());
  const warnings = await reserve(request, target, incoming, services, origin);
  const [first] = warnings;
  if (!first) return;
  if (!incoming.response.headersSent) incoming.response.setHeader(WARNING_HEADER, toHeaderText(first.text));
  for (const { text } of warnings.filter(({ isNew }) => isNew)) {
    services.onBudgetWarning(text);
    await thread.conversation.note(text).catch(services.onStoreFailure);
  }
}

async function reserve(
  request: ParsedRequest,
  target: Target,
  incoming: Incoming,
  services: Services,
  { project }: SessionOrigin,
): Promise<Awaited<ReturnType<Incoming["spending"]["reserve"]>>> {
  if (!(await services.spending.state.isInUse())) return [];
  const models = [target.model, target.clientModel, ...findNamedModels(request)];
  return incoming.spending.reserve({ project, models }, estimateRequest(request, target, incoming, services));
}

/** A text without the characters that a header cannot hold, such as those of a name. */
function toHeaderText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?");
}

/** Estimates a request before its window is fitted, at prices without a cache. */
function estimateRequest(
  { api, fields }: ParsedRequest,
  { model, clientModel }: Target,
  { body }: Incoming,
  { kernel }: Services,
): SpendingEstimate {
  const own = kernel.modelFacts(model);
  const facts = own.arePricesAssumed ? kernel.modelFacts(clientModel) : own;
  const limit = Math.min(facts.maxOutput, findOutputLimit(api.name, fields.all) ?? facts.maxOutput);
  // The usage of a reply that is made in the background is never seen, so it counts with the most that it may cost.
  const output = fields.all.background === true ? limit : Math.min(MAX_ESTIMATED_OUTPUT, limit);
  const factor = findPriceFactor(fields.all);
  const usage = {
    inputTokens: Math.min(Math.ceil(body.length / BYTES_PER_TOKEN), facts.window),
    outputTokens: output * countChoices(fields.all.n),
    ...(factor !== undefined && { priceFactor: factor }),
  };
  const usd = facts.arePricesAssumed ? undefined : computeUsageCost(usage, facts);
  return { tokens: usage.inputTokens + usage.outputTokens, usd, usage };
}

/** The replies that a request asks for. */
function countChoices(value: unknown): number {
  return Math.min(MAX_CHOICES, Math.max(1, Math.floor(toNumber(value) ?? 1)));
}
