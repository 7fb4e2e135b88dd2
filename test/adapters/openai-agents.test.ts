import {
  Agent,
  type AgentInputItem,
  type ModelRequest,
  type ModelResponse,
  Runner,
  Usage,
} from "@openai/agents-core";
import { expect, test } from "vitest";
import { LonghaulAgentsSession } from "../../src/adapters/openai-agents.ts";
import { diskKernel } from "../support/kernel.ts";

const ITEMS: AgentInputItem[] = [
  { type: "message", role: "user", content: "Count the ships." },
  { type: "reasoning", id: "rs_1", content: [{ type: "input_text", text: "Look." }], providerData: { x: 1 } },
  { type: "function_call", callId: "c1", name: "count", arguments: '{ "pier": 4 }', status: "completed" },
  {
    type: "function_call_result",
    callId: "c1",
    name: "count",
    status: "completed",
    output: { type: "text", text: "7".repeat(100_000) },
  },
  {
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: "Seven." }],
  },
];

test("an erased item of the Agents SDK keeps its role and its call", async () => {
  const { kernel } = await diskKernel({ embedder: null });
  const agents = new LonghaulAgentsSession({ kernel, sessionId: "agent" });
  await agents.addItems(ITEMS);
  await using session = await kernel.session("agent");
  for (const seq of [1, 3, 4, 5]) await session.redact(seq);
  const text = "[removed on request]";
  const call = { callId: "c1", name: "count", status: "completed" };
  expect(await agents.getItems()).toEqual([
    { type: "message", role: "user", content: text },
    ITEMS[1],
    { ...call, type: "function_call", arguments: "{}" },
    { ...call, type: "function_call_result", output: { type: "text", text } },
    { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }] },
  ]);
});

test("a session of the Agents SDK gives back the items that it got", async () => {
  const { kernel } = await diskKernel({ embedder: null });
  const session = new LonghaulAgentsSession({ kernel, sessionId: "agent" });
  expect(await session.getItems()).toEqual([]);
  expect(await session.popItem()).toBeUndefined();
  await session.addItems(ITEMS);
  expect(await session.getItems()).toEqual(ITEMS);
  expect(await session.getItems(2)).toEqual(ITEMS.slice(-2));
  expect(await session.getItems(0)).toEqual([]);
  expect(await session.popItem()).toEqual(ITEMS.at(-1));
  expect(await session.getItems()).toEqual(ITEMS.slice(0, -1));
  await session.close();
  expect(await session.getItems()).toEqual(ITEMS.slice(0, -1));
  const { hits } = await kernel.memory.recall("Count the ships");
  expect(hits[0]).toMatchObject({ session: "agent", seq: 1 });
  await session.clearSession();
  expect(await session.getItems()).toEqual([]);
  await session.addItems(ITEMS.slice(0, 1));
  expect(await session.getItems()).toEqual(ITEMS.slice(0, 1));
  expect((await kernel.head("agent")).seq).toBeGreaterThan(5);
});

test("the runner of the Agents SDK continues a conversation from a stored session", async () => {
  const { kernel } = await diskKernel({ embedder: null });
  const asked: ModelRequest[] = [];
  const model = {
    async getResponse(request: ModelRequest): Promise<ModelResponse> {
      asked.push(request);
      const content = [{ type: "output_text" as const, text: `Answer ${asked.length}.` }];
      return {
        usage: new Usage(),
        output: [{ type: "message", role: "assistant", status: "completed", content }],
      };
    },
    getStreamedResponse(): never {
      throw new Error("Not streamed.");
    },
  };
  const agent = new Agent({ name: "Counter", instructions: "Count.", model });
  const run = async (question: string) => {
    const session = new LonghaulAgentsSession({ kernel, sessionId: "run" });
    const runner = new Runner({ tracingDisabled: true });
    const result = await runner.run(agent, question, { session });
    await session.close();
    return result.finalOutput;
  };
  expect(await run("First?")).toBe("Answer 1.");
  expect(await run("Second?")).toBe("Answer 2.");
  expect(JSON.stringify(asked[1]?.input)).toMatch(/First\?.*Answer 1\..*Second\?/);
});
