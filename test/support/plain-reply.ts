import { once } from "node:events";

/** A whole reply of Anthropic's API that says "fine". */
export const FINE = JSON.stringify({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-4-5",
  content: [{ type: "text", text: "fine" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 1, output_tokens: 1 },
});

const event = (type: string, rest: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;

/** The first events of the same reply as a stream, and an event with 40 KB of its text. */
const START =
  event("message_start", { message: { ...JSON.parse(FINE), content: [], stop_reason: null } }) +
  event("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
const DELTA = event("content_block_delta", {
  index: 0,
  delta: { type: "text_delta", text: "word ".repeat(8_000) },
});

/** Writes `bytes` bytes of text as fast as they are taken, and never ends the message. */
export async function talkOn(out: NodeJS.WritableStream, bytes: number): Promise<void> {
  out.write(START);
  for (let sent = 0; sent < bytes; sent += DELTA.length) if (!out.write(DELTA)) await once(out, "drain");
  out.end();
}
