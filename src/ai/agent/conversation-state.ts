import { type Json, type Message, type MessageInput, type Session, textOfMessage } from "../../index.ts";
import { findCallsToRun, findPendingCalls, type PendingCall } from "./pending-calls.ts";

/** The state of a conversation when an agent starts or resumes. */
interface ConversationState {
  /** Calls that the previous process did not answer. */
  readonly pendingCalls: readonly PendingCall[];
  /** The text of the last message if it is a complete reply without calls; the task may be done. */
  readonly finalReply: string | undefined;
}

/** The newest messages are enough: a reply and its results are adjacent. */
const NEWEST_MESSAGES = 50;

/** Reads the state of a conversation. */
export async function readConversationState(session: Session): Promise<ConversationState> {
  const { entries } = await session.page({ kinds: ["message"], limit: NEWEST_MESSAGES });
  const messages = entries.flatMap((entry): Message[] => (entry.kind === "message" ? [entry.message] : []));
  const last = messages.at(-1);
  const isReply = last?.role === "assistant" && !last.interrupted && findCallsToRun(last).length === 0;
  return { pendingCalls: findPendingCalls(messages), finalReply: isReply ? textOfMessage(last) : undefined };
}

/** Marks the message with a task's input, so that it is added only once, even after crashes. */
export function markTaskInput(message: MessageInput, task: string): MessageInput {
  return { ...message, meta: { ...message.meta, inputOf: task } };
}

/** The message for a task's input: a text unchanged, the `prompt` of an object, else the JSON. */
export function toInputMessage(input: Json): MessageInput {
  if (typeof input === "string") return { role: "user", text: input };
  const prompt = typeof input === "object" && input !== null && "prompt" in input ? input.prompt : undefined;
  return { role: "user", text: typeof prompt === "string" ? prompt : JSON.stringify(input, undefined, 1) };
}

/** True if a task's input is in the log; searches back to the creation of the task. */
export async function hasInput(session: Session, task: string): Promise<boolean> {
  for await (const entry of session.entries({ direction: "older", kinds: ["message", "task"] })) {
    if (entry.kind === "message" && entry.message.meta?.inputOf === task) return true;
    if (entry.kind === "task" && entry.task === task && entry.note.type === "created") return false;
  }
  return false;
}
