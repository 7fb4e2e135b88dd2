import { generateText, isStepCount, type ModelMessage, ToolLoopAgent, tool } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { prepareStep, withLonghaul } from "../../../src/adapters/ai/index.ts";
import { APIS, logOf, reply, speaking } from "./speaking.ts";

const LINES = Array.from({ length: 40 }, (_, at) => `export const setting_${at} = load("setting ${at}");`);
const POINTER = /Lines 1-40 left out: the same as lines 1-40 of #\d+ \(read src\/app\.ts\)/;

const tools = {
  read: tool({
    description: "Reads a file",
    inputSchema: z.object({ path: z.string() }),
    execute: async () => LINES.join("\n"),
  }),
};

const reading = (id: string) => reply({ toolCalls: [{ id, name: "read", input: { path: "src/app.ts" } }] });
const steps = [reading("call_1"), reading("call_2"), reading("call_3"), reply("Done.")];
const countWhole = (body: string) => body.split("setting_39").length - 1;

describe("a repeated tool result", () => {
  test.each(APIS)(
    "withLonghaul sends a repeated tool result as a pointer that stays the same in later calls: %s",
    async (api) => {
      const { server, session, plain } = await speaking();
      const bodies: string[] = [];
      const model = plain(api, (body) => {
        bodies.push(body);
        return steps[bodies.length - 1];
      });
      const { text, responseMessages } = await generateText({
        model: withLonghaul(model, { session }),
        tools,
        stopWhen: isStepCount(5),
        prompt: "Please go on with the work.",
      });
      expect(text).toBe("Done.");
      expect(bodies.map(countWhole)).toEqual([0, 1, 1, 1]);
      expect(bodies.map((body) => POINTER.test(body))).toEqual([false, false, true, true]);
      // The caller and the log keep the results as they are.
      expect(countWhole(JSON.stringify(responseMessages))).toBe(3);
      const log = await logOf(session);
      expect(countWhole(JSON.stringify(log.filter(({ kind }) => kind === "message")))).toBe(3);
      expect(log.filter(({ kind }) => kind === "overlay")).toHaveLength(2);
      expect(server.requests).toHaveLength(4);
    },
  );

  test("prepareStep sends a repeated tool result as a pointer, even after the caller has sent its own copy again", async () => {
    const { session, plain } = await speaking();
    const bodies: string[] = [];
    const model = plain("anthropic", (body) => {
      bodies.push(body);
      return steps[bodies.length - 1] ?? reply("Gladly.");
    });
    const agent = new ToolLoopAgent({ model, tools, prepareStep: prepareStep({ session }) });
    const messages: ModelMessage[] = [{ role: "user", content: "Please go on with the work." }];
    messages.push(...(await agent.generate({ messages })).responseMessages);
    messages.push({ role: "user", content: "Thanks" });
    await agent.generate({ messages });
    expect(bodies.map(countWhole)).toEqual([0, 1, 1, 1, 1]);
    const pointerOf = (body: string) => POINTER.exec(body)?.[0];
    const pointers = bodies.slice(2).map(pointerOf);
    expect(pointers[0]).toBeDefined();
    expect(new Set(pointers).size).toBe(1);
  });

  test("a repeated tool result is sent whole where shrinking is off", async () => {
    const { server, session, plain } = await speaking();
    const bodies: string[] = [];
    const model = plain("anthropic", (body) => {
      bodies.push(body);
      return steps[bodies.length - 1];
    });
    const off = withLonghaul(model, { session, shrink: false });
    await generateText({ model: off, tools, stopWhen: isStepCount(5), prompt: "Please go on." });
    expect(bodies.map(countWhole)).toEqual([0, 1, 2, 3]);
    expect(server.requests).toHaveLength(4);
  });
});
