import type { Message } from "../../model/message.ts";
import { toArray } from "../fields.ts";
import type { PartSource } from "../part-source.ts";
import { readRequestTurns } from "../request-turns.ts";
import { NO_RESULT } from "../result-marks.ts";
import type { EncodedRequest, WireObject } from "../wire.ts";
import { OPENAI_CHAT_NAME } from "./decode-chat.ts";
import { encodeAssistantMessage, encodePlainMessage, encodeToolMessage } from "./encode-chat-message.ts";

/**
 * Encodes a conversation as a request of the Chat Completions API: `{ messages }`. Media in tool results follow in a
 * separate user message. A failed tool's output begins with "[tool error]". Reasoning from other formats, for which
 * OpenAI has no field, and raw parts of other formats are left out.
 */
export async function encodeChatRequest(
  messages: AsyncIterable<Message>,
  source: PartSource,
): Promise<EncodedRequest> {
  return { lead: {}, elements: encodeMessages(messages, source) };
}

async function* encodeMessages(
  messages: AsyncIterable<Message>,
  source: PartSource,
): AsyncGenerator<WireObject> {
  let media: WireObject[] = [];
  let spoken = 0;
  /** An assistant message with calls; the next one's calls join it if nothing comes between. */
  let calling: WireObject | undefined;
  for await (const turn of readRequestTurns(messages, source, OPENAI_CHAT_NAME)) {
    if (turn.role !== "assistant" && calling) {
      yield calling;
      calling = undefined;
    }
    if (turn.role === "missing") {
      for (const { callId } of turn.calls) yield { role: "tool", tool_call_id: callId, content: NO_RESULT };
      continue;
    }
    if (turn.role === "tool") {
      for (const { part } of turn.pieces) {
        const written = await encodeToolMessage(part, source);
        yield written.message;
        for (const one of written.media) media.push(one);
      }
      continue;
    }
    // Other messages may follow only after all results.
    if (media.length > 0 && !calling) {
      yield { role: "user", content: media };
      media = [];
    }
    if (turn.role !== "assistant") {
      const message = await encodePlainMessage(turn, source);
      if (message) yield message;
      continue;
    }
    const written = await encodeAssistantMessage(turn, source, `message ${++spoken}`);
    for (const one of written.media) media.push(one);
    const message =
      calling && written.message ? joinMessages(calling, written.message) : (written.message ?? calling);
    calling = message?.tool_calls ? message : undefined;
    if (message && !calling) yield message;
  }
  if (calling) yield calling;
  if (media.length > 0) yield { role: "user", content: media };
}

/** Joins two assistant messages, because the results of all calls must follow. */
function joinMessages(first: WireObject, second: WireObject): WireObject {
  const contents = [first.content, second.content].flatMap((content) =>
    typeof content === "string" ? [{ type: "text", text: content }] : toArray(content),
  );
  const calls = [...toArray(first.tool_calls), ...toArray(second.tool_calls)];
  return { ...first, ...second, content: contents.length > 0 ? contents : null, tool_calls: calls };
}
