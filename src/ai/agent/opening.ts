import {
  type Cursor,
  type Json,
  type Message,
  type MessageInput,
  type Session,
  textOfMessage,
} from "../../index.ts";
import { callsToDo, type OpenCall, openCalls } from "./open-calls.ts";

/** Where a conversation stands when an agent comes to it. */
export interface Opening {
  /** Calls that whoever was here before did not answer. */
  readonly open: readonly OpenCall[];
  /** What was said last, if that was a whole reply without calls: the task may be done. */
  readonly reply: string | undefined;
}

/** The newest messages tell; a reply and its results stand next to each other. */
const NEWEST = 50;
const PAGE = 200;

/** Reads where a conversation stands. */
export async function readOpening(session: Session): Promise<Opening> {
  const { entries } = await session.page({ kinds: ["message"], limit: NEWEST });
  const messages = entries.flatMap((entry): Message[] => (entry.kind === "message" ? [entry.message] : []));
  const last = messages.at(-1);
  const isReply = last?.role === "assistant" && !last.interrupted && callsToDo(last).length === 0;
  return { open: openCalls(messages), reply: isReply ? textOfMessage(last) : undefined };
}

/** The message that gives a task its work, marked so that it is given once, crashes or not. */
export function inputMessage(message: MessageInput, task: string): MessageInput {
  return { ...message, meta: { ...message.meta, inputOf: task } };
}

/** What a task is given, in words: a text as it is, the prompt of an object, else the JSON. */
export function wordsOfInput(input: Json): MessageInput {
  if (typeof input === "string") return { role: "user", text: input };
  const prompt = typeof input === "object" && input !== null && "prompt" in input ? input.prompt : undefined;
  return { role: "user", text: typeof prompt === "string" ? prompt : JSON.stringify(input, undefined, 1) };
}

/** Whether a task's input stands in the log: looks back to where the task was made. */
export async function hasInput(session: Session, task: string): Promise<boolean> {
  for (let before: Cursor | undefined; ; ) {
    const options = { kinds: ["message", "task"], limit: PAGE } as const;
    const page = await session.page(before === undefined ? options : { ...options, before });
    for (const entry of page.entries.toReversed()) {
      if (entry.kind === "message" && entry.message.meta?.inputOf === task) return true;
      if (entry.kind === "task" && entry.task === task && entry.note.type === "created") return false;
    }
    before = page.before;
    if (before === undefined) return false;
  }
}
