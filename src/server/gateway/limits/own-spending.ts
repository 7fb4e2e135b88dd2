import type { BudgetAmounts, BudgetGate, SpendingCeiling } from "../../../kernel/faces/people.ts";
import type { Kernel, SessionId } from "../../../kernel/index.ts";

/** A request that the gateway sends without being asked, for a conversation of a person. */
interface OwnRequest {
  readonly session: SessionId;
  /** Undefined for the person of a gateway without tokens. */
  readonly person: string | undefined;
  readonly project: string | undefined;
  readonly models: readonly string[];
  readonly estimate: BudgetAmounts;
  readonly ceiling: SpendingCeiling;
  /** Admits the person once more, by the token of the last request; false if the store cannot say. */
  readonly isAdmitted: () => Promise<boolean>;
}

/** A reply with its actual amounts; undefined amounts count as the estimate. */
interface Paid<Reply> {
  readonly reply: Reply;
  readonly actual: BudgetAmounts | undefined;
}

/** Everything that a spending of the gateway's own needs. */
interface OwnSpendingDeps {
  readonly kernel: Pick<Kernel, "find">;
  readonly gate: Pick<BudgetGate, "reserve">;
}

/**
 * The one way by which the gateway spends without being asked: budgets and the day's ceiling are reserved in the store,
 * then token and conversation are checked, and nothing but these awaits stands between the checks and `send`. Returns
 * undefined if nothing may be sent, or if the right ended meanwhile: then nothing may be stored either.
 */
export async function spendUnasked<Reply>(
  { kernel, gate }: OwnSpendingDeps,
  request: OwnRequest,
  send: () => Promise<Paid<Reply>>,
): Promise<Reply | undefined> {
  const { session, person, project, models, estimate, ceiling, isAdmitted } = request;
  const mayGoOn = async () => (await kernel.find(session)) !== undefined && (await isAdmitted());
  if (!(await mayGoOn())) return undefined;
  const decision = await gate.reserve({ person, project, models }, estimate, ceiling);
  if (decision.type !== "held") return undefined;
  const { hold } = decision;
  let paid: Paid<Reply> | undefined;
  let isSent = false;
  try {
    if (!(await mayGoOn())) return undefined;
    isSent = true;
    paid = await send();
  } finally {
    // A request that failed on its way may have been paid.
    if (isSent) await hold.settle(paid?.actual ?? estimate);
    else await hold.release();
  }
  return (await mayGoOn()) ? paid.reply : undefined;
}
