import { generateText, isStepCount, type ModelMessage, streamText, ToolLoopAgent, tool } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { prepareStep, withLonghaul } from "../../../src/adapters/ai/index.ts";
import { anthropicClearPolicy } from "../../../src/window/policies/known-policies.ts";
import { APIS, lineOf, logOf, reply, speaking } from "./speaking.ts";

const tools = {
  weather: tool({
    description: "Tells the weather of a city",
    inputSchema: z.object({ city: z.string(), unit: z.string().default("C") }),
    execute: async ({ city }) => ({ city, degrees: city.length }),
  }),
};

const twoCalls = reply({
  text: "Let me look.",
  toolCalls: [
    { id: "call_1", name: "weather", input: { city: "Rome" } },
    { id: "call_2", name: "weather", input: { city: "Oslo" } },
  ],
});
const oneCall = reply({ toolCalls: [{ id: "call_3", name: "weather", input: { city: "Paris" } }] });

const wholeLine = [
  "user: How is it?",
  'assistant: Let me look. | weather({"city":"Rome"}) | weather({"city":"Oslo"})',
  'tool: {"city":"Rome","degrees":4} | {"city":"Oslo","degrees":4}',
  'assistant: weather({"city":"Paris"})',
  'tool: {"city":"Paris","degrees":5}',
  "assistant: Fine everywhere.",
];

describe("a tool loop", () => {
  test.each(APIS)("a tool loop with parallel calls is logged once, step by step: %s", async (api) => {
    const { server, session, plain } = await speaking();
    server.script(twoCalls, oneCall, reply("Fine everywhere."));
    const model = withLonghaul(plain(api), { session });
    const { text } = await generateText({ model, tools, stopWhen: isStepCount(5), prompt: "How is it?" });
    expect(text).toBe("Fine everywhere.");
    // Google's API has no call ids, so its client generates them.
    expect(await lineOf(session)).toEqual(wholeLine);
    const log = await logOf(session);
    expect(log.filter(({ kind }) => kind === "message")).toHaveLength(6);
    expect(log.filter(({ kind }) => kind === "line")).toHaveLength(0);
    expect(log.filter(({ kind }) => kind === "usage")).toHaveLength(3);
  });

  test.each(APIS)("a streamed tool loop is logged once, step by step: %s", async (api) => {
    const { server, session, plain } = await speaking();
    server.script(twoCalls, oneCall, reply("Fine everywhere."));
    const model = withLonghaul(plain(api), { session });
    const result = streamText({ model, tools, stopWhen: isStepCount(5), prompt: "How is it?" });
    expect(await result.text).toBe("Fine everywhere.");
    expect(await lineOf(session)).toEqual(wholeLine);
    expect((await logOf(session)).filter(({ kind }) => kind === "message")).toHaveLength(6);
  });

  test("an agent's tool loop goes on from the history that its caller kept", async () => {
    const { server, session, model } = await speaking();
    server.script(twoCalls, oneCall, reply("Fine everywhere."), reply("Gladly."));
    const agent = new ToolLoopAgent({ model: model(), tools, instructions: "You know the weather." });
    const messages: ModelMessage[] = [{ role: "user", content: "How is it?" }];
    messages.push(...(await agent.generate({ messages })).responseMessages);
    messages.push({ role: "user", content: "Thanks" });
    await agent.generate({ messages });
    expect(await lineOf(session)).toEqual([...wholeLine, "user: Thanks", "assistant: Gladly."]);
    expect((await logOf(session)).filter(({ kind }) => kind === "message")).toHaveLength(8);
  });

  test("prepareStep logs the tool loop of an agent, whatever its model", async () => {
    const { server, session, plain } = await speaking();
    server.script(twoCalls, oneCall, reply("Fine everywhere."));
    const agent = new ToolLoopAgent({ model: plain(), tools, prepareStep: prepareStep({ session }) });
    const { text } = await agent.generate({ prompt: "How is it?" });
    expect(text).toBe("Fine everywhere.");
    expect(await lineOf(session)).toEqual(wholeLine);
  });

  test("a tool loop whose history the session keeps sends the whole history", async () => {
    const { server, session, model } = await speaking();
    server.script(twoCalls, oneCall, reply("Fine everywhere."), reply("Gladly."));
    const agent = new ToolLoopAgent({ model: model({ history: "session" }), tools });
    await agent.generate({ prompt: "How is it?" });
    await agent.generate({ prompt: "Thanks" });
    expect(await lineOf(session)).toEqual([...wholeLine, "user: Thanks", "assistant: Gladly."]);
    const { messages } = (server.requests[3]?.body ?? {}) as {
      messages: readonly { role: string; content: unknown }[];
    };
    expect(messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
      "user",
      "assistant",
      "user",
    ]);
    expect(messages[2]).toMatchObject({ content: [{ tool_use_id: "call_1" }, { tool_use_id: "call_2" }] });
  });

  test.each(APIS)("a tool loop sends cleared tool inputs as stubs: %s", async (api) => {
    const { server, session, plain } = await speaking();
    const [first, second] = [{ city: "Rome ".repeat(2_000) }, { city: "Oslo ".repeat(20_000) }];
    server.script(
      reply({ toolCalls: [{ id: "call_1", name: "weather", input: first }] }),
      reply({ toolCalls: [{ id: "call_2", name: "weather", input: second }] }),
      oneCall,
      reply("Fine everywhere."),
    );
    const policy = anthropicClearPolicy({ trigger: { calls: 0 }, clearInputs: true, keep: 1 });
    const model = withLonghaul(plain(api), { session, policy });
    await generateText({ model, tools, stopWhen: isStepCount(5), prompt: "How is it?" });
    const sent = JSON.stringify(server.requests[3]?.body);
    expect(sent).toContain("The input (10,011 characters)");
    expect(sent).toContain("The input (100,0");
    expect(sent.length).toBeLessThan(5_000);
  });

  test("a tool loop stores the failure of a tool", async () => {
    const { server, session, model } = await speaking();
    server.script(oneCall, reply("Sorry."));
    const failing = {
      weather: tool({
        inputSchema: z.object({ city: z.string() }),
        execute: async (): Promise<string> => {
          throw new Error("no satellite");
        },
      }),
    };
    await generateText({ model: model(), tools: failing, stopWhen: isStepCount(3), prompt: "How is it?" });
    const [, , result] = (await logOf(session)).filter((entry) => entry.kind === "message");
    expect(result?.message.parts).toMatchObject([{ type: "tool-result", callId: "call_3", isError: true }]);
    expect(await lineOf(session)).toHaveLength(4);
  });
});
