import type { WindowLease } from "../../../kernel/calls/call-window.ts";
import type { ProviderFailure } from "../../../kernel/faces/window.ts";
import { detectOverflow } from "../../../kernel/faces/window.ts";
import type { FittedWindow, MessageInput, SessionWindow } from "../../../kernel/index.ts";
import { sumPromptTokens } from "../../../model/usage.ts";
import { isLogWhole, isPreviousMissing } from "../request/chain.ts";
import { type CallRequest, joinedText } from "../thread/call-request.ts";
import type { Thread } from "../thread/thread.ts";

/** The fitted window of a conversation that the request itself does not contain. */
interface LoggedFit {
  readonly lease: WindowLease;
  readonly fitted: FittedWindow;
  /** Instructions that precede the window. */
  readonly lead: readonly MessageInput[];
}

/**
 * Fits the window of the whole conversation for a request that was refused, or would be; undefined if the log does not
 * contain all of it, or if the request was refused for another reason.
 */
export async function fitLoggedConversation(
  thread: Thread,
  callRequest: CallRequest,
  failure: ProviderFailure | undefined,
): Promise<LoggedFit | undefined> {
  const { chain, signal } = callRequest;
  const isOverflow = failure !== undefined && detectOverflow(failure) !== undefined;
  const isMissing = failure !== undefined && !isOverflow && isPreviousMissing(failure);
  if (!chain?.isWhole || (failure && !isOverflow && !isMissing)) return undefined;
  // A conversation missing at the provider must be created by the client.
  if (isMissing && chain.isWhole === "perhaps") return undefined;
  const lead = await chain.leadMessages();
  const taken = thread.windows.take(addLead(callRequest, lead));
  const { window } = taken;
  if (chain.isWhole === "perhaps" && !thread.marks.isOurs && !(await isAllInLog(window, thread))) {
    taken.release();
    return undefined;
  }
  if (isMissing) await thread.marks.set({ forgotten: (thread.meta.forgotten ?? 0) + 1 });
  const fitted = await window.fit({ signal });
  // If an overflowed window seems to fit, the estimate is too low.
  const smaller = isOverflow && !fitted.plan ? await window.heal(failure) : undefined;
  return { lease: taken, lead, fitted: smaller ?? fitted };
}

/** Adds instructions from earlier requests of the client to the size of a request. */
function addLead(callRequest: CallRequest, lead: readonly MessageInput[]): CallRequest {
  if (lead.length === 0) return callRequest;
  const text = JSON.stringify(lead);
  const { frame } = callRequest;
  return {
    ...callRequest,
    frame: {
      ...frame,
      leadBytes: frame.leadBytes + text.length,
      readLead: () => joinedText(frame.readLead(), text, "before"),
    },
  };
}

/** False if the provider has counted more tokens than the log contains. */
async function isAllInLog(window: SessionWindow, { session }: Thread): Promise<boolean> {
  const [last] = (await session.page({ kinds: ["usage"], limit: 1 })).entries;
  return isLogWhole(
    countRequestTokens(await window.look()),
    last?.kind === "usage" ? sumPromptTokens(last.usage) : undefined,
  );
}

/** Logged tokens of the request that led to the last reply. */
function countRequestTokens({ tokens, slots }: FittedWindow): number {
  const last = slots.findLastIndex(({ message }) => message.role === "assistant");
  const later = slots.slice(Math.max(0, last)).reduce((sum, slot) => sum + slot.tokens, 0);
  return Math.max(0, tokens - later);
}
