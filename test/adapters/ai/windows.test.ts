import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, streamText } from "ai";
import { describe, expect, test, vi } from "vitest";
import { withLonghaul } from "../../../src/adapters/ai/index.ts";
import type { Behaviour } from "../../support/wire-server/behaviour.ts";
import { reply, speaking } from "./speaking.ts";

const ENDINGS: Readonly<Record<string, Behaviour>> = {
  "is whole": reply("one two"),
  "is cut off before its first word": { type: "cut", reply: { text: "one two" }, afterEvents: 1 },
  "is cut off in the middle": { type: "cut", reply: { text: "one two three four" }, afterEvents: 5 },
  "is an error": { type: "error", kind: "bad-request" },
  "is a broken stream": {
    type: "error-midway",
    kind: "server-error",
    afterEvents: 5,
    reply: { text: "one two three four" },
  },
};

describe("the window of the previous call", () => {
  test.each(Object.entries(ENDINGS))(
    "a call reuses the window of the call before it after a reply that %s",
    async (_, ending) => {
      const { server, session, model } = await speaking();
      server.script(ending, reply("Done."));
      const opened = vi.spyOn(session, "window");
      const speaker = model();
      const first = streamText({ model: speaker, prompt: "Count", maxRetries: 0, onError: () => undefined });
      await first.consumeStream();
      await generateText({ model: speaker, prompt: "Again" });
      expect(opened).toHaveBeenCalledTimes(1);
    },
  );

  test("a call reuses the window of the call before it after the caller aborted that call", async () => {
    const { server, session, model } = await speaking();
    server.script({ type: "stall" }, reply("Done."));
    const opened = vi.spyOn(session, "window");
    const speaker = model();
    const abort = new AbortController();
    const first = generateText({ model: speaker, prompt: "Count", abortSignal: abort.signal });
    await server.received(1);
    abort.abort();
    await expect(first).rejects.toThrow();
    await generateText({ model: speaker, prompt: "Again" });
    expect(opened).toHaveBeenCalledTimes(1);
  });

  test("a call reuses the window of the call before it after a reply without usage", async () => {
    const { server, session } = await speaking();
    server.script(reply("one"), reply("Done."));
    const opened = vi.spyOn(session, "window");
    const provider = createOpenAICompatible({ name: "local", baseURL: `${server.url}/v1`, apiKey: "none" });
    const speaker = withLonghaul(provider("some-model"), { session });
    expect(await streamText({ model: speaker, prompt: "Count" }).text).toBe("one");
    expect(await streamText({ model: speaker, prompt: "Again" }).text).toBe("Done.");
    expect(opened).toHaveBeenCalledTimes(1);
  });

  test("a call opens another window while the earlier call is still running", async () => {
    const { server, session, model } = await speaking();
    server.script(reply("one"), reply("two"), reply("three"), reply("four"));
    const opened = vi.spyOn(session, "window");
    const speaker = model();
    const ask = (prompt: string) => generateText({ model: speaker, prompt });
    await Promise.all([ask("Count"), ask("Count on")]);
    await Promise.all([ask("Again"), ask("And again")]);
    expect(opened).toHaveBeenCalledTimes(2);
  });
});
