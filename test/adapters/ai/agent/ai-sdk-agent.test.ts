import { setTimeout as sleep } from "node:timers/promises";
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { hasToolCall, type ToolSet, tool, wrapLanguageModel } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { aiSdkAgent } from "../../../../src/adapters/ai/index.ts";
import { proofTest } from "../../../support/proof.ts";
import { lineOf, logOf, reply } from "../speaking.ts";
import { calling, running } from "./running.ts";

const rome = calling("call_1", "weather", { city: "Rome" }, "Let me look.");
const wholeLine = [
  "user: How is it?",
  'assistant: Let me look. | weather({"city":"Rome"})',
  "tool: Rome: 4 degrees",
  "assistant: Fine.",
];

describe("an AI SDK agent as a task", () => {
  test("an agent task stores every message once, records its usage and returns its last words", async () => {
    const { server, session, run } = await running();
    server.script(rome, reply({ text: "Fine.", usage: { input: 100, output: 10 } }));
    const { state, outcome } = await run();
    expect({ state, result: outcome?.result }).toEqual({
      state: "completed",
      result: { text: "Fine.", steps: 2, stop: "done" },
    });
    expect(await lineOf(session)).toEqual(wholeLine);
    const log = await logOf(session);
    expect(log.filter(({ kind }) => kind === "message")).toHaveLength(4);
    const usage = log.flatMap((entry) => (entry.kind === "usage" ? [entry] : []));
    expect(usage.map((entry) => entry.usage.inputTokens)).toEqual([10, 100]);
    // Haiku 4.5 costs 1 and 5 dollars for a million tokens.
    expect(usage[1]?.usage.cost).toBeCloseTo(0.00015);
    expect(usage[1]?.meta).toMatchObject({ longhaul: { estimatedTokens: expect.any(Number) } });
    const output = log.flatMap((entry) =>
      entry.kind === "task" && entry.note.type === "output" ? [entry.note.text] : [],
    );
    expect(output.join("")).toBe("Let me look.Fine.");
  });

  test("an agent task stores all streamed words of a reply before the reply itself, however slowly they come", async () => {
    const { server, session, plain, run } = await running();
    const model = wrapLanguageModel({
      model: plain(),
      middleware: {
        specificationVersion: "v4",
        async wrapStream({ doStream }) {
          const { stream, ...rest } = await doStream();
          // One pause longer than the interval at which output is batched; the remaining text arrives with the end.
          let pauseMs = 300;
          const slow = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
            async transform(part, controller) {
              if (part.type === "text-delta") await sleep(pauseMs);
              if (part.type === "text-delta") pauseMs = 0;
              controller.enqueue(part);
            },
          });
          return { ...rest, stream: stream.pipeThrough(slow) };
        },
      },
    });
    server.script(reply("You are very welcome."));
    await run("Thanks", { model });
    const said = (await logOf(session)).flatMap((entry) => {
      if (entry.kind === "task" && entry.note.type === "output") return [entry.note.text];
      return entry.kind === "message" && entry.message.role === "assistant" ? ["(the reply)"] : [];
    });
    expect(said.join("")).toBe("You are very welcome.(the reply)");
  });

  test("an agent task sends instructions, tools and the whole conversation, including earlier tasks", async () => {
    const { server, session, run } = await running();
    server.script(rome, reply("Fine."), reply("Gladly."));
    await run("How is it?", { instructions: async () => "Be brief." });
    await run("Thanks");
    expect(await lineOf(session)).toEqual([...wholeLine, "user: Thanks", "assistant: Gladly."]);
    expect(server.requests[1]?.body).toMatchObject({
      system: [{ text: "Be brief." }],
      tools: [{ name: "weather" }],
      messages: [
        { role: "user" },
        { role: "assistant", content: [{ type: "text" }, { type: "tool_use", id: "call_1" }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1" }] },
      ],
    });
    expect(JSON.stringify(server.requests[2]?.body)).toMatch(/How is it.*Rome: 4 degrees.*Fine.*Thanks/);
  });

  test("an agent task stores a reply's tool calls before it carries them out", async () => {
    const { server, session, run } = await running();
    let seen: readonly string[] = [];
    const weather = tool({
      inputSchema: z.object({ city: z.string() }),
      execute: async () => {
        seen = await lineOf(session);
        return "warm";
      },
    });
    server.script(rome, reply("Fine."));
    await run("How is it?", { tools: { weather } });
    expect(seen).toEqual(wholeLine.slice(0, 2));
  });

  test("an agent task tells the model about an unknown tool, a wrong input, and a tool that throws or cannot run", async () => {
    const { server, session, run } = await running();
    const tools = {
      weather: tool({
        inputSchema: z.object({ city: z.string() }),
        execute: async (): Promise<string> => {
          throw new Error("no satellite");
        },
      }),
      asking: tool({ inputSchema: z.object({}) }) as ToolSet[string],
    };
    server.script(
      calling("c1", "fly", {}),
      calling("c2", "weather", { town: 1 }),
      calling("c3", "weather", { city: "Rome" }),
      calling("c4", "asking", {}),
      reply("Sorry."),
    );
    const { state } = await run("How is it?", { tools });
    expect(state).toBe("completed");
    const line = await lineOf(session);
    expect(line).toHaveLength(10);
    expect(line[2]).toMatch(/unavailable tool 'fly'/);
    expect(line[4]).toMatch(/Invalid input for tool weather/);
    expect(line[6]).toMatch(/no satellite/);
    expect(line[8]).toMatch(/Not carried out/);
    const results = (await logOf(session)).flatMap((entry) =>
      entry.kind === "message" && entry.message.role === "tool" ? entry.message.parts : [],
    );
    expect(results.map((part) => part.type === "tool-result" && part.isError)).toEqual([
      true,
      true,
      true,
      true,
    ]);
  });

  test("an agent task asks again when a reply breaks off, and carries out no call of the broken reply", async () => {
    const { server, session, run } = await running();
    let calls = 0;
    const weather = tool({
      inputSchema: z.object({ city: z.string() }),
      execute: async () => `call ${++calls}`,
    });
    server.script({ type: "cut", reply: rome.reply, afterEvents: 8 }, rome, reply("Fine."));
    const { state } = await run("How is it?", { tools: { weather } });
    expect({ state, calls }).toEqual({ state: "completed", calls: 1 });
    expect(await lineOf(session)).toEqual(wholeLine.with(2, "tool: call 1"));
  });

  test("an agent task fails with the provider's error when no reply comes", async () => {
    const { server, session, run } = await running();
    server.always({ type: "error", kind: "unauthorized" });
    const { state, outcome } = await run();
    expect({ state, reason: outcome?.reason, error: outcome?.error }).toMatchObject({
      state: "failed",
      reason: "error",
      error: "invalid x-api-key",
    });
    expect(await lineOf(session)).toEqual(["user: How is it?"]);
  });

  test("an agent task ends when its steps are used up, its stop condition is met, or its budget is exceeded", async () => {
    const { server, run } = await running();
    server.always(rome);
    const limited = await run("How is it?", { maxSteps: 3 });
    expect(limited.outcome?.result).toEqual({ text: "Let me look.", steps: 3, stop: "steps" });
    const stopped = await run("How is it?", { stopWhen: hasToolCall("weather") });
    expect(stopped.outcome?.result).toEqual({ text: "Let me look.", steps: 1, stop: "condition" });
    const poor = await run("How is it?", {}, { budget: { tokens: 20 } });
    expect(poor.outcome).toMatchObject({ state: "failed", reason: "budget" });
    const looping = await run("How is it?", {}, { loopGuard: { repeats: 4, isStopping: true } });
    expect(looping.outcome).toMatchObject({ state: "failed", reason: "loop" });
  });

  test("an agent task keeps each request within the model's window, however much its tools return", async () => {
    const { server, session, run } = await running();
    const read = tool({
      inputSchema: z.object({ page: z.number() }),
      execute: async ({ page }) => `Page ${page}. ${`It was day ${page} of the long haul. `.repeat(100)}`,
    });
    for (let page = 1; page <= 30; page++) server.script(calling(`c${page}`, "read", { page }));
    server.script(reply("Read."));
    const { outcome } = await run("Read all.", {
      tools: { read },
      window: { models: { "claude-*": { window: 16_000 } } },
    });
    expect(outcome?.result).toEqual({ text: "Read.", steps: 31, stop: "done" });
    expect(await lineOf(session)).toHaveLength(62);
    const sizes = server.requests.map(({ body }) => JSON.stringify(body).length);
    expect(Math.max(...sizes)).toBeLessThan(60_000);
  });

  proofTest("an agent task makes a refused request smaller and repeats it within the same step", async () => {
    const { server, session, run } = await running();
    for (let turn = 0; turn < 20; turn++)
      await session.appendAll([
        { role: "user", text: `Request ${turn}: ${`look at part ${turn} of the plan. `.repeat(60)}` },
        { role: "assistant", text: `Answer ${turn}: ${`part ${turn} is fine as it stands. `.repeat(60)}` },
      ]);
    server.script({ type: "error", kind: "overflow" }, reply("Fine."));
    const { state } = await run();
    expect(state).toBe("completed");
    expect((await lineOf(session)).slice(-2)).toEqual(["user: How is it?", "assistant: Fine."]);
  });

  test("an agent task sends the agent's memories with its instructions", async () => {
    const { server, kernel, run } = await running();
    await kernel.memories("tester").remember("The user likes it warm.", { by: "user" });
    server.script(reply("Fine."));
    await run("How is it?", { instructions: "Be brief.", window: { memories: "tester" } });
    expect(server.requests[0]?.body).toMatchObject({
      system: [{ text: "Be brief." }, { text: expect.stringContaining("user| The user likes it warm.") }],
    });
  });

  test("creating an agent with missing or invalid options throws an error", async () => {
    const { agent } = await running();
    expect(() => aiSdkAgent({} as never)).toThrow("kernel");
    expect(() => agent({ maxSteps: 0 })).toThrow("maxSteps is 0");
    expect(() => agent({ name: "" })).toThrow("name");
  });
});
