import { generateText, type ModelMessage, streamText } from "ai";
import { describe, expect, test } from "vitest";
import type { Session } from "../../../src/kernel/index.ts";
import { lineOf, reply, speaking } from "./speaking.ts";

/** Who ended requests of the session, according to its notes. */
async function endersOf(session: Session) {
  const { entries } = await session.page({ kinds: ["notice"] });
  return entries.flatMap((entry) =>
    entry.kind === "notice" && entry.requestEnd ? [entry.requestEnd.by] : [],
  );
}

describe("an interrupted reply", () => {
  test("a reply that the caller aborts is kept as far as it came and marked as interrupted", async () => {
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
    await expect.poll(() => endersOf(session)).toEqual(["client"]);
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

  test("a reply whose connection breaks is kept as far as it came, and the caller gets an error", async () => {
    const { server, session, model } = await speaking();
    server.script({ type: "cut", reply: { text: "one two three four" }, afterEvents: 5 });
    const { stream } = streamText({ model: model(), prompt: "Count", maxRetries: 0 });
    const reading = async () => {
      for await (const part of stream) expect(part.type).not.toBe("finish");
    };
    await expect(reading()).rejects.toThrow("Failed to process successful response");
    await expect.poll(() => lineOf(session)).toEqual(["user: Count", "assistant (interrupted): one two "]);
    await expect.poll(() => endersOf(session)).toEqual(["provider"]);
  });

  test("a request that the provider refuses is explained by one note, however often the caller tries", async () => {
    const { server, session, model } = await speaking();
    const error = { type: "error", kind: "overloaded", status: 529 } as const;
    server.script(error, error);
    const speaker = model();
    for (let time = 0; time < 2; time++)
      await expect(generateText({ model: speaker, prompt: "Count", maxRetries: 0 })).rejects.toThrow();
    expect(await endersOf(session)).toEqual(["provider"]);
    const { entries } = await session.page({ kinds: ["notice"] });
    expect(entries).toMatchObject([{ text: expect.stringMatching(/^request ended by the provider: .*529/) }]);
  });

  test("a call that was aborted before it began sends nothing", async () => {
    const { server, model } = await speaking();
    const asked = generateText({ model: model(), prompt: "Hello?", abortSignal: AbortSignal.abort() });
    await expect(asked).rejects.toMatchObject({ name: "AbortError" });
    expect(server.requests).toEqual([]);
  });

  test("a reply is kept as far as it came when its session is closed during the stream", async () => {
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
