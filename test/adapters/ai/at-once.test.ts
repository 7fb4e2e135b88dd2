import { generateText, type ModelMessage } from "ai";
import { describe, expect, test } from "vitest";
import { withLonghaul } from "../../../src/adapters/ai/index.ts";
import { lineOf, logOf, reply, speaking } from "./speaking.ts";

describe("two simultaneous calls", () => {
  test("two simultaneous calls in one session each get their own answer, and the log keeps both", async () => {
    const { server, session, plain } = await speaking();
    const model = withLonghaul(
      plain("anthropic", (body) => reply(body.includes("Rome") ? "Arrivederci" : "Farvel")),
      { session },
    );
    const asked = ["Goodbye in Rome?", "Goodbye in Oslo?"];
    const results = await Promise.all(asked.map((prompt) => generateText({ model, prompt })));
    expect(results.map(({ text }) => text)).toEqual(["Arrivederci", "Farvel"]);
    for (const { body } of server.requests) {
      const sent = JSON.stringify(body);
      expect(sent.includes("Rome") && sent.includes("Oslo")).toBe(false);
    }
    // Each conversation continues.
    for (const [index, prompt] of asked.entries()) {
      const messages: ModelMessage[] = [
        { role: "user", content: prompt },
        ...(results[index]?.response.messages ?? []),
        { role: "user", content: "Again!" },
      ];
      await generateText({ model, messages });
      expect(await lineOf(session)).toEqual([
        `user: ${prompt}`,
        `assistant: ${results[index]?.text}`,
        "user: Again!",
        `assistant: ${results[index]?.text}`,
      ]);
    }
    expect((await logOf(session)).filter(({ kind }) => kind === "message")).toHaveLength(8);
  });

  test("two simultaneous calls with the same words get two answers, and the log keeps both", async () => {
    const { server, session, model } = await speaking();
    server.script(reply("heads"), reply("tails"));
    const speaker = model();
    const results = await Promise.all([1, 2].map(() => generateText({ model: speaker, prompt: "Toss!" })));
    expect(results.map(({ text }) => text).sort()).toEqual(["heads", "tails"]);
    expect(await lineOf(session)).toHaveLength(2);
    expect((await logOf(session)).filter(({ kind }) => kind === "message")).toHaveLength(3);
  });
});
