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

/** The window of a conversation that its requests do not say, fitted. */
export interface WholeFit {
  readonly taken: TakenWindow;
  readonly fitted: Fitted;
  /** Instructions that stand before it. */
  readonly lead: readonly MessageInput[];
}

/**
 * Fits the window of the whole conversation for a request that was refused as it came, or would be; undefined if the log
 * does not have all of it, or the refusal was for another reason.
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
  // A conversation that is not there is for its client to make.
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
  // What overflowed and seems to fit is larger than it seems.
  const smaller = isOverflow && !fitted.plan ? await window.heal(failure) : undefined;
  return { taken, lead, fitted: smaller ?? fitted };
}

/** A request with instructions before all else that its client has said earlier. */
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

/** False if the provider has counted more than the log has. */
async function isAllInLog(window: SessionWindow, { session }: Thread): Promise<boolean> {
  const [last] = (await session.page({ kinds: ["usage"], limit: 1 })).entries;
  return isLogWhole(
    askedTokens(await window.look()),
    last?.kind === "usage" ? inputOf(last.usage) : undefined,
  );
}

/** Tokens of what the last reply was an answer to, as the log has it. */
function askedTokens({ tokens, slots }: Fitted): number {
  const last = slots.findLastIndex(({ message }) => message.role === "assistant");
  const later = slots.slice(Math.max(0, last)).reduce((sum, slot) => sum + slot.tokens, 0);
  return Math.max(0, tokens - later);
}

function inputOf({ inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 }: Usage): number {
  return inputTokens + cacheReadTokens + cacheWriteTokens;
}
