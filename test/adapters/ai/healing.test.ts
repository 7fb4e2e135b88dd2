import { APICallError, generateText, isStepCount, type ModelMessage, streamText, tool } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { withLonghaul } from "../../../src/adapters/ai/index.ts";
import { isLonghaulError } from "../../../src/kernel/index.ts";
import { PIXEL_PNG } from "../../support/pixel.ts";
import { proofCases, proofTest, sizedTest } from "../../support/proof.ts";
import type { Behaviour } from "../../support/wire-server/behaviour.ts";
import { lineOf, logOf, reply, type Speaking, speaking } from "./speaking.ts";

const overflow: Behaviour = { type: "error", kind: "overflow" };

/** A long conversation that fits the model's declared window. */
function longTalk(turns: number): ModelMessage[] {
  return Array.from({ length: turns }, (_, turn): ModelMessage[] => [
    { role: "user", content: `Request ${turn}: ${`look at part ${turn} of the plan. `.repeat(60)}` },
    { role: "assistant", content: `Answer ${turn}: ${`part ${turn} is fine as it stands. `.repeat(60)}` },
  ])
    .flat()
    .concat({ role: "user", content: "And now?" });
}

/** A server that refuses every request as twice too large. */
function tooMuch(body: string): Behaviour {
  const tokens = Math.ceil(body.length / 4);
  const message = `This model's maximum context length is ${Math.ceil(tokens / 2)} tokens. However, your messages resulted in ${tokens} tokens.`;
  return {
    type: "error",
    kind: "overflow",
    body: JSON.stringify({ error: { message, code: "context_length_exceeded" } }),
  };
}

/** Checks the providers' rule that every call is directly followed by its result. */
function checkPairs(body: string): void {
  const { messages } = JSON.parse(body) as {
    messages: { role: string; tool_call_id?: string; tool_calls?: { id: string }[] }[];
  };
  let open: string[] = [];
  for (const { role, tool_call_id: answered = "", tool_calls: calls = [] } of messages) {
    if (role === "tool") {
      expect(open).toContain(answered);
      open = open.filter((id) => id !== answered);
    } else {
      expect(open).toEqual([]);
      open = calls.map(({ id }) => id);
    }
  }
  expect(open).toEqual([]);
}

const sizeOf = ({ server }: Speaking, request: number) =>
  JSON.stringify(server.requests[request]?.body).length;

describe("a request that the provider finds too long", () => {
  sizedTest.each(proofCases(["generate", "stream"]))(
    "a request that the provider finds too long is made smaller and sent again, unseen by the caller: %s",
    async (way) => {
      const all = await speaking();
      const { server, session, model } = all;
      server.script(overflow, reply("Done."));
      const messages = longTalk(20);
      const text =
        way === "generate"
          ? (await generateText({ model: model(), messages, maxRetries: 0 })).text
          : await streamText({ model: model(), messages, maxRetries: 0 }).text;
      expect(text).toBe("Done.");
      expect(sizeOf(all, 1)).toBeLessThan(sizeOf(all, 0));
      const log = await logOf(session);
      expect(log.filter(({ kind }) => kind === "message")).toHaveLength(42);
      expect(log.some(({ kind }) => kind === "overlay")).toBe(true);
      expect((await lineOf(session)).at(-1)).toBe("assistant: Done.");
    },
  );

  proofTest("an overflow error at the beginning of a stream is healed as well", async () => {
    const { server, session, model } = await speaking();
    server.script({ type: "error-midway", kind: "overflow", afterEvents: 0, reply: {} }, reply("Done."));
    const result = streamText({ model: model(), messages: longTalk(20), maxRetries: 0 });
    expect(await result.text).toBe("Done.");
    expect((await lineOf(session)).at(-1)).toBe("assistant: Done.");
  });

  test.each([63_900, 100_000])(
    "a request whose output limit of %i tokens is too high keeps all its messages and gets a lower limit",
    async (maxOutputTokens) => {
      const { server, session, plain } = await speaking();
      const limit = 64_000;
      const strict = (body: string): Behaviour => {
        const { max_tokens: asked } = JSON.parse(body) as { max_tokens: number };
        const input = Math.ceil(body.length / 4);
        if (input + asked <= limit) return reply("Done.");
        const message = `This model's maximum context length is ${limit} tokens. However, you requested ${input + asked} tokens (${input} in the messages, ${asked} in the completion).`;
        const error = { message, code: "context_length_exceeded" };
        return { type: "error", kind: "overflow", body: JSON.stringify({ error }) };
      };
      const model = withLonghaul(plain("openai-chat", strict), { session });
      const { text } = await generateText({ model, messages: longTalk(6), maxRetries: 0, maxOutputTokens });
      expect(text).toBe("Done.");
      const [first, second] = server.requests.map(
        ({ body }) => body as { messages: unknown; max_tokens: number },
      );
      expect(server.requests).toHaveLength(2);
      expect(second?.messages).toEqual(first?.messages);
      expect(second?.max_tokens).toBeGreaterThan(50_000);
      expect(second?.max_tokens).toBeLessThan(limit);
      expect((await logOf(session)).some(({ kind }) => kind === "overlay")).toBe(false);
    },
  );

  proofTest("a request that is too long in any size fails after a few tries, and loses nothing", async () => {
    const { server, session, plain } = await speaking();
    const model = withLonghaul(plain("openai-chat", tooMuch), { session });
    const asked = generateText({ model, messages: longTalk(20), maxRetries: 0 });
    await expect(asked).rejects.toSatisfy((error) => isLonghaulError(error, "WINDOW_OVERFLOW"));
    expect(server.requests.length).toBeLessThanOrEqual(4);
    expect(await lineOf(session)).toHaveLength(41);
  });

  proofTest(
    "a long tool loop never sees an overflow, though the server takes only 16,000 of the supposed tokens",
    async () => {
      const { server, session, plain } = await speaking();
      const steps = 60;
      let asked = 0;
      let refused = 0;
      const model = plain("openai-chat", (body) => {
        checkPairs(body);
        // Four characters per token, as the server counts.
        const tokens = Math.ceil(body.length / 4);
        if (tokens > 16_000) {
          refused++;
          const message = `This model's maximum context length is 16000 tokens. However, your messages resulted in ${tokens} tokens.`;
          return {
            type: "error",
            kind: "overflow",
            body: JSON.stringify({ error: { message, code: "context_length_exceeded" } }),
          };
        }
        asked++;
        const usage = { input: tokens, output: 30 };
        if (asked > steps) return reply({ text: "All read.", usage });
        return reply({
          usage,
          toolCalls: [{ id: `call_${asked}`, name: "read", input: { file: `part-${asked}.txt` } }],
        });
      });
      const read = tool({
        inputSchema: z.object({ file: z.string() }),
        execute: async ({ file }) =>
          `${file}\n${Array.from({ length: 60 }, (_, line) => `line ${line} of ${file} says ${line * 7}`).join("\n")}`,
      });
      const { text } = await generateText({
        model: withLonghaul(model, { session }),
        tools: { read },
        stopWhen: isStepCount(steps + 5),
        maxRetries: 0,
        prompt: "Read all parts.",
      });
      expect(text).toBe("All read.");
      expect(refused).toBeGreaterThan(0);
      expect(refused).toBeLessThan(steps);
      expect(await lineOf(session)).toHaveLength(2 * steps + 2);
      expect(server.requests).toHaveLength(steps + 1 + refused);
    },
  );

  sizedTest.each(proofCases(["caller", "session"] as const))(
    "no request exceeds a known window when the %s keeps the history",
    async (history) => {
      const { session, plain } = await speaking();
      const steps = 60;
      let asked = 0;
      let largest = 0;
      const model = plain("openai-chat", (body) => {
        checkPairs(body);
        const tokens = Math.ceil(body.length / 4);
        largest = Math.max(largest, tokens);
        asked++;
        const usage = { input: tokens, output: 30 };
        if (asked > steps) return reply({ text: "All read.", usage });
        return reply({
          usage,
          toolCalls: [{ id: `call_${asked}`, name: "read", input: { file: `part-${asked}.txt` } }],
        });
      });
      const read = tool({
        inputSchema: z.object({ file: z.string() }),
        execute: async ({ file }) => `${file}\n${`some words of ${file} `.repeat(120)}`,
      });
      const { text } = await generateText({
        model: withLonghaul(model, { session, history, models: { "some-model": { window: 16_000 } } }),
        tools: { read },
        stopWhen: isStepCount(steps + 5),
        prompt: "Read all parts.",
      });
      expect(text).toBe("All read.");
      expect(largest).toBeLessThanOrEqual(16_000);
      expect((await logOf(session)).filter(({ kind }) => kind === "message")).toHaveLength(2 * steps + 2);
    },
  );
});

describe("a block that the provider rejects", () => {
  test("a block that the provider rejects is left out of the repeated call, and the log keeps it", async () => {
    const { server, session, model } = await speaking();
    const body = JSON.stringify({
      type: "error",
      error: {
        type: "invalid_request_error",
        message:
          "messages.0.content.1.image.source.base64.data: The image was specified using the image/png media type, but the image appears to be a image/jpeg image",
      },
    });
    server.script({ type: "error", kind: "bad-request", body }, reply("A dot?"), reply("Indeed."));
    const messages: ModelMessage[] = [
      {
        role: "user",
        content: [
          { type: "text", text: "What is this?" },
          { type: "file", data: PIXEL_PNG, mediaType: "image/png" },
        ],
      },
    ];
    const speaker = model();
    const { text, response } = await generateText({ model: speaker, messages, maxRetries: 0 });
    expect(text).toBe("A dot?");
    expect(JSON.stringify(server.requests[0]?.body)).toContain(PIXEL_PNG);
    expect(JSON.stringify(server.requests[1]?.body)).not.toContain(PIXEL_PNG);
    await generateText({
      model: speaker,
      messages: [...messages, ...response.messages, { role: "user", content: "Sure?" }],
    });
    expect(JSON.stringify(server.requests[2]?.body)).not.toContain(PIXEL_PNG);
    expect(await lineOf(session)).toEqual([
      "user: What is this? | [image/png]",
      "assistant: A dot?",
      "user: Sure?",
      "assistant: Indeed.",
    ]);
  });
});

describe("a picture next to a rejected picture", () => {
  proofTest("a picture next to a rejected picture is sent again with all its bytes", async () => {
    const { server, model } = await speaking();
    const body = JSON.stringify({
      type: "error",
      error: {
        type: "invalid_request_error",
        message: "messages.0.content.1.image.source.base64.data: Could not process image",
      },
    });
    const other = Buffer.concat([Buffer.from(PIXEL_PNG, "base64"), Buffer.from("another")]).toString(
      "base64",
    );
    server.script({ type: "error", kind: "bad-request", body }, reply("Two dots?"));
    const { text } = await generateText({
      model: model(),
      maxRetries: 0,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What are these?" },
            { type: "file", data: PIXEL_PNG, mediaType: "image/png" },
            { type: "file", data: Buffer.from(other, "base64"), mediaType: "image/png" },
          ],
        },
      ],
    });
    expect(text).toBe("Two dots?");
    const sent = JSON.stringify(server.requests[1]?.body);
    expect(sent).not.toContain(PIXEL_PNG);
    expect(sent).toContain(other);
  });
});

describe("other errors", () => {
  test.each(["generate", "stream"])(
    "other errors pass through unchanged, and the SDK's own retries store nothing twice: %s",
    async (way) => {
      const { server, session, model } = await speaking();
      const limited: Behaviour = { type: "error", kind: "rate-limit", headers: { "retry-after-ms": "1" } };
      server.script(limited, reply("At last."));
      const asked = { model: model(), prompt: "Hello?" };
      const text = way === "generate" ? (await generateText(asked)).text : await streamText(asked).text;
      expect(text).toBe("At last.");
      expect(await lineOf(session)).toEqual(["user: Hello?", "assistant: At last."]);
      server.script(limited);
      const refused = generateText({ model: model(), prompt: "Hello?", maxRetries: 0 });
      await expect(refused).rejects.toSatisfy(
        (error) => APICallError.isInstance(error) && error.statusCode === 429,
      );
    },
  );
});
