import type { CallUsage } from "../../conversation/call-window.ts";
import type { Entry, EntryId } from "../../index.ts";
import type { UsageBody } from "../../log-entry.ts";
import type { ReplyReader } from "../../wire/wire.ts";
import type { CallRequest } from "../thread/call-request.ts";
import { countRecallTools } from "../thread/call-request-facts.ts";
import type { Thread } from "../thread/thread.ts";
import type { AppendReply } from "./reply-recorder.ts";
import { getReplyText } from "./reply-text.ts";

/** The parts of a call that its reply depends on. */
interface AnsweredCall {
  readonly thread: Thread;
  readonly request: CallRequest;
  readonly isFromLog: boolean;
  readonly last: EntryId | undefined;
  readonly overheadMs: number | undefined;
}

/**
 * Stores a reply after the message that it answers, with its usage if `buildUsage` is given, and tells the thread about
 * it. Runs in the thread's turn.
 */
export async function appendReply(
  call: AnsweredCall,
  append: AppendReply,
  wholeReply: ReplyReader | undefined,
  buildUsage: (() => UsageBody) | undefined,
): Promise<readonly Entry[]> {
  const { thread, last } = call;
  const { conversation, session } = thread;
  // An incomplete reply is appended wherever the log ends.
  if (!wholeReply) await conversation.endLineAt(last);
  const entries = await conversation.appendAfter(last, (expectedHead) =>
    append(session, { expectedHead, buildUsage }),
  );
  const recording = thread.recordWritten(entries[0]?.id);
  if (recording) await recording;
  if (!wholeReply) return [];
  const reporting = thread.reportReply(getReplyText(wholeReply.message()));
  if (reporting) await reporting;
  const learning = learnStored(call);
  if (learning) await learning;
  return entries;
}

/** Learns from a complete reply how much of the conversation the provider stores. */
function learnStored({ thread, request, isFromLog }: AnsweredCall): Promise<void> | undefined {
  if (!isFromLog) thread.recordProviderMemory(true);
  else if (request.chain?.isWhole === "perhaps") return thread.mark({ isOurs: true });
  return undefined;
}

/** The usage of a reply; undefined if the provider reports none. */
export function describeUsage(
  { request, overheadMs }: AnsweredCall,
  reader: ReplyReader,
): CallUsage | undefined {
  const { usage, responseId, model = request.frame.model } = reader;
  if (!usage) return undefined;
  const addedTokens = countRecallTools(request);
  return { usage, model, request: responseId, reply: reader.message(), addedTokens, overheadMs };
}
