import { generateText, type ModelMessage, streamText } from "ai";
import { describe, expect, test } from "vitest";
import { lineOf, reply, speaking } from "./speaking.ts";

describe("a reply that does not come to its end", () => {
  test("because the caller aborts is kept as far as it came, marked as interrupted", async () => {
    const { server, session, model } = await speaking();
    server.script(
      { type: "stall-midway", reply: { text: "one two three four" }, afterEvents: 5 },
      reply("Right."),
    );
    const abort = new AbortController();
    const speaker = model();
    const result = streamText({
      model: speaker,
      prompt: "Count",
      abortSignal: abort.signal,
      onError: () => undefined,
    });
    let text = "";
    for await (const piece of result.textStream) {
      text += piece;
      if (text.includes("two")) abort.abort();
    }
    const { closed } = await server.received(1);
    expect(await closed).toBe(false);
    await expect.poll(() => lineOf(session)).toEqual(["user: Count", "assistant (interrupted): one two "]);
    const messages: ModelMessage[] = [
      { role: "user", content: "Count" },
      { role: "assistant", content: "one two " },
      { role: "user", content: "Stop." },
    ];
    await generateText({ model: speaker, messages });
    expect(await lineOf(session)).toEqual([
      "user: Count",
      "assistant (interrupted): one two ",
      "user: Stop.",
      "assistant: Right.",
    ]);
  });

  test("because the connection breaks is kept as well, and the caller is told", async () => {
    const { server, session, model } = await speaking();
    server.script({ type: "cut", reply: { text: "one two three four" }, afterEvents: 5 });
    const { stream } = streamText({ model: model(), prompt: "Count", maxRetries: 0 });
    const reading = async () => {
      for await (const part of stream) expect(part.type).not.toBe("finish");
    };
    await expect(reading()).rejects.toThrow("Failed to process successful response");
    await expect.poll(() => lineOf(session)).toEqual(["user: Count", "assistant (interrupted): one two "]);
  });

  test("because it was aborted before it began sends nothing", async () => {
    const { server, model } = await speaking();
    const asked = generateText({ model: model(), prompt: "Hello?", abortSignal: AbortSignal.abort() });
    await expect(asked).rejects.toMatchObject({ name: "AbortError" });
    expect(server.requests).toEqual([]);
  });

  test("because the session is closed under it is kept, too", async () => {
    const { server, kernel, session, model } = await speaking();
    server.script({ type: "stall-midway", reply: { text: "one two three four" }, afterEvents: 5 });
    const abort = new AbortController();
    const { textStream } = streamText({
      model: model(),
      prompt: "Count",
      abortSignal: abort.signal,
      onError: () => undefined,
    });
    const { value } = await textStream[Symbol.asyncIterator]().next();
    expect(value).toBe("one ");
    await session.close();
    abort.abort();
    const again = await kernel.session(session.id);
    expect((await lineOf(again)).at(-1)).toMatch(/^assistant \(interrupted\): one/);
  });
});
