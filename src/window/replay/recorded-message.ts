import { checkFields } from "../../model/argument-checks.ts";
import { createArgumentError } from "../../model/errors.ts";
import type { Message } from "../../model/message.ts";
import { requireParts } from "../../model/message.ts";
import type { Part, ToolResultPart } from "../../model/part.ts";
import { isCall, listAnsweredCallIds, listCallIds } from "../../model/tool-calls.ts";

/** A message with its position and time. */
export interface RecordedMessage {
  readonly seq: number;
  readonly at: number;
  readonly message: Message;
}

const NO_RESULT = "[no result recorded]";

/**
 * Converts a recorded conversation to the form an API would have received: consecutive assistant messages become one
 * message, the results of its calls one message after it. A call without a result gets a placeholder; a result without
 * a call is dropped.
 */
export function* toConversation(messages: Iterable<RecordedMessage>): Generator<RecordedMessage> {
  let reply: RecordedMessage | undefined;
  let results:
    | { readonly at: number; readonly seq: number; readonly parts: Map<string, ToolResultPart> }
    | undefined;

  function* close(): Generator<RecordedMessage> {
    if (!reply) return;
    yield reply;
    // Raw calls have no tool result.
    const calls = reply.message.parts.flatMap((part) => (isCall(part) && part.callId ? [part.callId] : []));
    if (calls.length > 0) {
      const answers = calls.map((callId) => results?.parts.get(callId) ?? buildPlaceholder(callId));
      const { seq, at } = results ?? reply;
      yield { seq, at, message: { role: "tool", parts: answers } };
    }
    reply = undefined;
    results = undefined;
  }

  if (typeof messages?.[Symbol.iterator] !== "function")
    throw createArgumentError("messages", messages, "messages with seq and time");
  for (const said of messages) {
    const { message } = checkFields("messages", said, { message: "object" });
    requireParts(message);
    if (message.role === "system") continue;
    if (message.role === "assistant") {
      if (results) yield* close();
      reply = reply ? joinReply(reply, message) : said;
      continue;
    }
    const open = new Set(reply ? listCallIds(reply.message) : []);
    const answered = listAnsweredCallIds(message).filter((callId) => open.has(callId));
    if (answered.length > 0) {
      results ??= { seq: said.seq, at: said.at, parts: new Map() };
      results = { ...results, at: said.at };
      for (const part of message.parts)
        if (part.type === "tool-result" && open.has(part.callId)) results.parts.set(part.callId, part);
    }
    const rest = message.parts.filter((part) => part.type !== "tool-result");
    if (rest.length === 0) continue;
    yield* close();
    yield { ...said, message: { ...message, role: "user", parts: rest } };
  }
  yield* close();
}

function joinReply(reply: RecordedMessage, more: Message): RecordedMessage {
  const parts: readonly Part[] = [...reply.message.parts, ...more.parts];
  return { ...reply, message: { ...reply.message, parts } };
}

function buildPlaceholder(callId: string): ToolResultPart {
  return { type: "tool-result", callId, output: [{ type: "text", text: NO_RESULT }] };
}
