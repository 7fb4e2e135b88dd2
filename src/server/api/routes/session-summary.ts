import { pickPublicMeta } from "../../../kernel/calls/project-conversations.ts";
import {
  addReport,
  addSavings,
  EMPTY_LEDGER,
  isSumUsage,
  NO_SAVINGS,
  type Totals,
} from "../../../kernel/faces/window.ts";
import type { Kernel, Session, SessionRecord } from "../../../kernel/index.ts";
import { computeSavedShare } from "../../../kernel/usage/savings-estimates.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { findResumeCommand } from "../../../model/resume-command.ts";
import { findOrigin } from "../../../model/session-origin.ts";
import { findOwnTask } from "../../../model/task-session.ts";
import { sumPromptTokens } from "../../../model/usage.ts";
import type { ApiServices } from "../api-services.ts";
import { isMemorySession } from "../core/own-sessions.ts";
import { listSavings } from "../spending/savings-sums.ts";
import { computePromptCost, sumSessionUsage } from "../spending/session-usage.ts";

/** A session as the API shows it. */
export interface SessionSummary
  extends Pick<SessionRecord, "id" | "title" | "parent" | "relation" | "createdAt" | "meta"> {
  readonly agent?: string;
  readonly project?: string;
  readonly kind: string;
  readonly task?: string;
  readonly entries: number;
  readonly lastEntryAt?: number;
  readonly usedAt?: number;
  readonly isWriting: boolean;
  readonly model?: string;
  readonly usage?: Totals;
  readonly saved?: { readonly savedCost: number; readonly withoutCost: number };
  readonly wouldSave?: number;
  readonly lastRequest?: LastRequest;
  readonly resume?: string;
}

/** The services that know what a session has cost. */
type Sums = Pick<ApiServices, "usage" | "estimates">;

/** The size of the window at the latest reported request. */
interface LastRequest {
  readonly at: number;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly window: number | null;
}

/** The purpose of a session: "main" for a conversation. */
export function findSessionKind({ id, meta }: SessionRecord): string {
  if (isMemorySession(id)) return "memory";
  const gateway = meta?.gateway;
  const kind =
    typeof gateway === "object" && gateway !== null && "kind" in gateway ? gateway.kind : undefined;
  if (typeof kind === "string") return kind;
  return findOwnTask(dropUndefined({ meta })) === undefined ? "main" : "task";
}

/** Reads a session's facts; without `sums`, its reports are not summed, which is fast for a session of any length. */
export async function readSessionSummary(
  kernel: Kernel,
  sums: Sums | undefined,
  record: SessionRecord,
): Promise<SessionSummary> {
  await using session = await kernel.session(record.id);
  return await describeSession(kernel, session, sums, record);
}

/** Describes an open session. */
export async function describeSession(
  kernel: Kernel,
  session: Session,
  sums: Sums | undefined,
  record: SessionRecord,
): Promise<SessionSummary> {
  const { lineSeq: _, meta: whole, ...facts } = record;
  const meta = pickPublicMeta(whole);
  const { seq, at } = await session.head();
  const { model } = await session.lastCall();
  const lastRequest = await findLastRequest(kernel, session);
  const resume = findResumeCommand(record);
  const task = findOwnTask(record);
  return {
    ...facts,
    ...dropUndefined({ meta }),
    ...findOrigin(record),
    kind: findSessionKind(record),
    ...dropUndefined({ task }),
    entries: seq,
    ...(seq > 0 && { lastEntryAt: at }),
    isWriting: (await session.drafts()).length > 0,
    ...dropUndefined({ model }),
    ...(sums && (await readMoney(kernel, sums, session, record))),
    ...dropUndefined({ lastRequest, resume }),
  };
}

/** The cost of a session, the savings of its edits, and those that the default policy would have had without them. */
async function readMoney(
  kernel: Kernel,
  { usage, estimates }: Sums,
  session: Session,
  record: SessionRecord,
): Promise<Pick<SessionSummary, "usage" | "usedAt" | "saved" | "wouldSave">> {
  const own = await usage.read(session);
  const saved = listSavings(own.savings, "", "9999-12-31").reduce(
    (sum, [, one]) => addSavings(sum, one),
    NO_SAVINGS,
  );
  const { savedCost, withoutCost, removedTokens } = saved;
  const known = await estimates.find(session.id);
  const share = known ? computeSavedShare(known) : null;
  const prompts = [...own.models].reduce(
    (sum, [model, ledger]) => sum + computePromptCost(ledger.session, kernel.modelFacts(model)),
    0,
  );
  return dropUndefined({
    usage: sumSessionUsage(own),
    usedAt: await usage.readLastUse(record),
    saved: removedTokens > 0 ? { savedCost, withoutCost } : undefined,
    wouldSave: removedTokens === 0 && share !== null ? share * prompts : undefined,
  });
}

/** A report follows its reply; searching further would read the whole of a conversation without reports. */
const MAX_ENTRIES = 100;

async function findLastRequest(kernel: Kernel, session: Session): Promise<LastRequest | undefined> {
  const { entries } = await session.page({ kinds: ["usage", "message"], limit: MAX_ENTRIES });
  const entry = entries.findLast((one) => one.kind === "usage" && !isSumUsage(one));
  if (entry?.kind !== "usage") return undefined;
  const { at, model } = entry;
  const { session: totals } = addReport(EMPTY_LEDGER, { at, body: entry }, (id) => kernel.modelFacts(id));
  const facts = model === undefined ? undefined : kernel.modelFacts(model);
  return {
    at,
    promptTokens: sumPromptTokens(totals),
    cachedTokens: totals.cacheReadTokens,
    window: facts && !facts.isWindowAssumed ? facts.window : null,
  };
}
