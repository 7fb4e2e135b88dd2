import { retrieveContext, shouldRetrieve } from "../../../kernel/faces/memory.ts";
import { estimateText } from "../../../kernel/faces/window.ts";
import type { Memory, MessageInput } from "../../../kernel/index.ts";
import { ADDED_TAGS, buildTagPattern } from "../../../model/message-tags.ts";
import { removeElements } from "../../../model/remove-elements.ts";
import type { Incoming } from "../door/incoming.ts";
import type { MemorySearch } from "../exchange/exchange-state.ts";
import type { Services } from "../exchange/services.ts";
import type { Trace } from "../observe/trace.ts";
import type { CallRequest } from "../thread/call-request.ts";
import type { Thread } from "../thread/thread.ts";
import { listConversations } from "./person-scope.ts";
import { getRecallSettings } from "./recall-settings.ts";
import { runWithTimeout } from "./run-with-timeout.ts";

const TIMEOUT_MS = 5_000;
/** The part of that time reserved for indexing new entries. */
const WAIT_MS = 1_000;
/** Far more than is shown, because content of the window is removed later. */
const MAX_TOKENS = 20_000;

/**
 * Searches memory for the content that a new message of the user refers to. Runs before the message is stored, since it
 * would otherwise find itself. Undefined if context is off, if the message refers to nothing, or if it was searched for
 * before.
 */
export async function searchMemory(
  { principal, trace, signal }: Pick<Incoming, "principal" | "trace" | "signal">,
  { kernel, config }: Services,
  { api, isControl, messages }: CallRequest,
  thread: Thread,
): Promise<MemorySearch | undefined> {
  if (isControl || !getRecallSettings(config(), api.name, thread.kind).context) return undefined;
  const { list } = messages;
  const last = list.at(-1 - thread.messages.countReminders(messages));
  if (last?.role !== "user" || thread.recall.contextTexts.has(list, last)) return undefined;
  const words = findPersonText(last.input());
  if (words === undefined || !shouldRetrieve(words)) return undefined;
  trace.recalls = (trace.recalls ?? 0) + 1;
  const found = await runWithTimeout(TIMEOUT_MS, signal, async (late) => {
    const { scope } = await listConversations(kernel, principal, thread.meta.project);
    const waitMs = WAIT_MS;
    const options = { tokensOf: estimateText, budgetTokens: MAX_TOKENS, scope, signal: late, waitMs };
    return retrieveContext(traceRecalls(kernel.memory, trace), words, options);
  });
  return { messageIndex: last.index, query: words, hits: found?.hits ?? [] };
}

/** A memory whose recalls record in the trace how many entries were not yet indexed. */
function traceRecalls(memory: Pick<Memory, "recall">, trace: Trace): Pick<Memory, "recall"> {
  return {
    recall: async (question, options) => {
      const recall = await memory.recall(question, options);
      if (recall.unindexed !== undefined) trace.unindexed = recall.unindexed;
      return recall;
    },
  };
}

/** Elements that agents add to user messages: reminders, editor state, machine state. */
const ADDED_ELEMENTS = new RegExp(`<(${buildTagPattern(ADDED_TAGS, "question")})(?![\\w-])[^<>]*>`, "gi");
const COMMAND = /^\s*\/context\s/;

/**
 * The text that a person wrote in a message, without the agent's additions; undefined if nothing is left, or if the
 * message has tool results. A part that begins with "/context" replaces the whole text.
 */
export function findPersonText({ role, text, parts = [] }: MessageInput): string | undefined {
  if (role !== "user" || parts.some(({ type }) => type === "tool-result")) return undefined;
  const texts = [
    ...(text === undefined ? [] : [text]),
    ...parts.flatMap((part) => (part.type === "text" ? [part.text] : [])),
  ];
  const own = texts.map((one) => removeElements(one, ADDED_ELEMENTS, " ").trim()).filter((one) => one !== "");
  return own.find((one) => COMMAND.test(one)) ?? (own.length > 0 ? own.join("\n\n") : undefined);
}
