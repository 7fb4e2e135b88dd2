import { text as readText } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { findFirstFailure } from "../../../../../src/server/gateway/reply/relay/upstream-refusal.ts";
import { anthropicWire } from "../../../../../src/wire/anthropic/anthropic-wire.ts";
import { sender } from "../../upstream/sender.ts";
import { serve } from "../../upstream/server.ts";

const event = (type: string, data: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
const ERROR = event("error", { error: { type: "overloaded_error", message: "Too much." } });
const TEXT = [
  event("message_start", { message: { id: "msg_1", content: [] } }),
  event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
  event("content_block_delta", { index: 0, delta: { type: "text_delta", text: "An error, he said." } }),
].join("");

/** The failure at the beginning of a stream that arrives in one piece, and its bytes as a later reader gets them. */
async function look(stream: string, isLong: boolean) {
  const { url } = await serve((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).end(stream);
  });
  const { body } = await sender(url)();
  const { signal } = new AbortController();
  const failure = await findFirstFailure(anthropicWire, body, { signal, isLong });
  return { failure, text: await readText(body) };
}

describe.each([true, false])("the beginning of a stream, of a long request: %s", (isLong) => {
  test.each([
    ["an error", ERROR, "Too much."],
    [
      "an error with escaped letters",
      ERROR.replaceAll("error", "\\u0065rror").replace(/^.*\n/, ""),
      "Too much.",
    ],
    ["an error in a field of its own", 'error: {"message":"Bad."}\n\n', "Bad."],
    ["an error after content", TEXT + ERROR, undefined],
    ["content", TEXT, undefined],
    ["nothing", "", undefined],
  ])("a stream with %s is checked for a first failure", async (_name, stream, message) => {
    const { failure, text } = await look(stream, isLong);
    expect(failure?.message).toBe(message);
    expect(text).toBe(stream);
  });
});
