import type { ConversationScope } from "../../../conversation/project-conversations.ts";
import type { EntryId, SessionId } from "../../../index.ts";
import type { AgentMemory } from "../../../memory-entry.ts";
import { dropUndefined, toNumber, toText } from "../../../wire/fields.ts";
import { EXPAND_TOOL, MAX_RESULTS, SAVE_TOOL } from "../../recall/recall-tools.ts";
import { runWithTimeout } from "../../recall/run-with-timeout.ts";
import type { RecallCall, RecallCallResult } from "./round-format.ts";

/**
 * Limits of one round: calls carried out, and time for all of them together. The first recall of a process loads the
 * embedder and parts of the index, which takes long on a busy machine.
 */
const MAX_CALLS = 8;
const TIMEOUT_MS = 30_000;
/** The part of that time reserved for indexing new entries. */
const WAIT_MS = 2_000;

/** The memory to query, and the conversation that queries it. */
interface RecallCallContext {
  readonly memory: Pick<AgentMemory, "recall" | "expand" | "save">;
  /** The conversations of the caller's project; undefined if it is unknown, and everything is searched. */
  readonly findInProject: () => Promise<ConversationScope> | undefined;
  /** The conversation, for references that name only an entry of it. */
  readonly session: SessionId;
  /** Entries in the window that the model sees whole. */
  readonly findShown: () => Promise<ReadonlySet<EntryId>>;
  readonly signal: AbortSignal;
  /** True if no further calls of this reply will be carried out. */
  readonly isLast: boolean;
}

/** Carries out the calls of one round. Failures become a sentence for the model; never throws. */
export async function runRecallCalls(
  calls: readonly RecallCall[],
  asking: RecallCallContext,
): Promise<readonly RecallCallResult[]> {
  const { signal, isLast } = asking;
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const answers: RecallCallResult[] = [];
  for (const [index, call] of calls.entries()) {
    const text =
      index < MAX_CALLS
        ? ((await runWithTimeout(TIMEOUT_MS, deadline, (late) => runRecallCall(call, asking, late))) ??
          "Memory did not answer; go on without it.")
        : `Not carried out: at most ${MAX_CALLS} at once.`;
    answers.push({
      call,
      text: isLast ? `${text}\nThis was the last time in this reply; answer now.` : text,
    });
  }
  return answers;
}

async function runRecallCall(
  { name, input }: RecallCall,
  asking: RecallCallContext,
  signal: AbortSignal,
): Promise<string> {
  const { memory, session } = asking;
  if (name === EXPAND_TOOL) {
    const entry = toText(input.entry) ?? "";
    const from = toNumber(input.from);
    const isWhole = from !== undefined && Number.isInteger(from) && from >= 0;
    return memory.expand(entry.startsWith("#") ? `${session}${entry}` : entry, { ...(isWhole && { from }) });
  }
  if (name === SAVE_TOOL)
    return memory.save(toText(input.text) ?? "", { isQuoted: input.quoted === true, source: session });
  const limit = toNumber(input.limit);
  const k = limit === undefined ? undefined : Math.min(MAX_RESULTS, Math.max(1, Math.round(limit)));
  const shown = await asking.findShown();
  const depth = input.careful === true ? ("careful" as const) : undefined;
  const options = { signal, waitMs: WAIT_MS, shown, ...dropUndefined({ k, depth }) };
  const own = input.where === "everywhere" ? undefined : await asking.findInProject();
  if (!own) return memory.recall(toText(input.query) ?? "", options);
  const found = await memory.recall(toText(input.query) ?? "", { ...options, within: own.scope });
  return own.others === 0
    ? found
    : `${found}\nOnly this project was searched; ${own.others} conversations of other projects were left out (where: "everywhere" includes them).`;
}
