import {
  type Fitted,
  type MessageInput,
  overflowOf,
  type ProviderFailure,
  type SessionWindow,
  type Usage,
} from "../../index.ts";
import { type Asked, joinedText } from "./asked.ts";
import { isLogWhole, isPreviousMissing } from "./chain.ts";
import type { Thread } from "./thread.ts";
import type { TakenWindow } from "./window-set.ts";

/** The fitted window of a conversation that the request itself does not contain. */
export interface WholeFit {
  readonly taken: TakenWindow;
  readonly fitted: Fitted;
  /** Instructions that precede the window. */
  readonly lead: readonly MessageInput[];
}

/**
 * Fits the window of the whole conversation for a request that was refused, or would be; undefined if the log does not
 * contain all of it, or if the request was refused for another reason.
 */
export async function fitWhole(
  thread: Thread,
  asked: Asked,
  failure: ProviderFailure | undefined,
): Promise<WholeFit | undefined> {
  const { chain, signal } = asked;
  const isOverflow = failure !== undefined && overflowOf(failure) !== undefined;
  const isMissing = failure !== undefined && !isOverflow && isPreviousMissing(failure);
  if (!chain?.isWhole || (failure && !isOverflow && !isMissing)) return undefined;
  // A conversation missing at the provider must be created by the client.
  if (isMissing && chain.isWhole === "perhaps") return undefined;
  const lead = await chain.leadMessages();
  const taken = thread.windows.take(withLead(asked, lead));
  const { window } = taken;
  if (chain.isWhole === "perhaps" && !thread.isOurs && !(await isAllInLog(window, thread))) {
    taken.giveBack();
    return undefined;
  }
  if (isMissing) thread.remembered(false);
  const fitted = await window.fit({ signal });
  // If an overflowed window seems to fit, the estimate is too low.
  const smaller = isOverflow && !fitted.plan ? await window.heal(failure) : undefined;
  return { taken, lead, fitted: smaller ?? fitted };
}

/** Adds instructions from earlier requests of the client to the size of a request. */
function withLead(asked: Asked, lead: readonly MessageInput[]): Asked {
  if (lead.length === 0) return asked;
  const text = JSON.stringify(lead);
  const { frame } = asked;
  return {
    ...asked,
    frame: {
      ...frame,
      leadBytes: frame.leadBytes + text.length,
      lead: () => joinedText(frame.lead(), text, "before"),
    },
  };
}

/** False if the provider has counted more tokens than the log contains. */
async function isAllInLog(window: SessionWindow, { session }: Thread): Promise<boolean> {
  const [last] = (await session.page({ kinds: ["usage"], limit: 1 })).entries;
  return isLogWhole(
    askedTokens(await window.look()),
    last?.kind === "usage" ? inputOf(last.usage) : undefined,
  );
}

/** Logged tokens of the request that led to the last reply. */
function askedTokens({ tokens, slots }: Fitted): number {
  const last = slots.findLastIndex(({ message }) => message.role === "assistant");
  const later = slots.slice(Math.max(0, last)).reduce((sum, slot) => sum + slot.tokens, 0);
  return Math.max(0, tokens - later);
}

function inputOf({ inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 }: Usage): number {
  return inputTokens + cacheReadTokens + cacheWriteTokens;
}
