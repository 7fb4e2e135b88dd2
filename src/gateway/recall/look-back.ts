import { estimateText, type Hit, type Memory, retrieveContext, shouldRetrieve } from "../../index.ts";
import type { Admitted, ExchangeParts } from "../exchange/parts.ts";
import type { Trace } from "../observe/trace.ts";
import type { Asked } from "../thread/asked.ts";
import type { Thread } from "../thread/thread.ts";
import { ownWords } from "./own-words.ts";
import { reachOf, talksWithin } from "./reach.ts";
import { recallSettings } from "./settings.ts";
import { threadRecall } from "./thread-recall.ts";
import { withinTime } from "./within-time.ts";

/** Search results for a new message of the user. */
export interface LookedBack {
  /** Index of the message in the request. */
  readonly place: number;
  readonly words: string;
  /** Best first. */
  readonly hits: readonly Hit[];
}

const TIMEOUT_MS = 5_000;
/** The part of that time reserved for indexing new entries. */
const WAIT_MS = 1_000;
/** Far more than is shown, because content of the window is removed later. */
const MOST_TOKENS = 20_000;

/**
 * Searches memory for the content that a new message of the user refers to. Runs before the message is stored, since it
 * would otherwise find itself. Undefined if context is off, if the message refers to nothing, or if it was searched for
 * before.
 */
export async function lookBack(
  { principal, trace, signal }: Pick<Admitted, "principal" | "trace" | "signal">,
  { kernel, config }: ExchangeParts,
  { api, said }: Asked,
  thread: Thread,
): Promise<LookedBack | undefined> {
  if (!recallSettings(config(), api.name, thread.kind).context) return undefined;
  const { messages } = said;
  const last = messages.at(-1 - thread.remindersIn(said));
  if (last?.role !== "user" || threadRecall(thread).told.knows(messages, last)) return undefined;
  const words = ownWords(last.input());
  if (words === undefined || !shouldRetrieve(words)) return undefined;
  trace.recalls = (trace.recalls ?? 0) + 1;
  const found = await withinTime(TIMEOUT_MS, signal, async (late) => {
    const scope = await talksWithin(reachOf(principal.id, config()), kernel);
    const waitMs = WAIT_MS;
    const options = { tokensOf: estimateText, budgetTokens: MOST_TOKENS, scope, signal: late, waitMs };
    return retrieveContext(tracing(kernel.memory, trace), words, options);
  });
  return { place: last.index, words, hits: found?.hits ?? [] };
}

/** A memory whose recalls record in the trace how many entries were not yet indexed. */
function tracing(memory: Pick<Memory, "recall">, trace: Trace): Pick<Memory, "recall"> {
  return {
    recall: async (question, options) => {
      const recalled = await memory.recall(question, options);
      if (recalled.unindexed !== undefined) trace.unindexed = recalled.unindexed;
      return recalled;
    },
  };
}
