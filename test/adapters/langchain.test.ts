import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { expect, test } from "vitest";
import { LonghaulChatMessageHistory } from "../../src/adapters/langchain.ts";
import { diskKernel } from "../support/kernel.ts";

const CALL = { id: "c1", name: "count", args: { pier: 4 }, type: "tool_call" as const };

function conversation() {
  return [
    new SystemMessage("You count ships."),
    new HumanMessage({ content: [{ type: "text", text: "How many are at the pier?" }], id: "h1" }),
    new AIMessage({ content: "", tool_calls: [CALL], response_metadata: { model: "m" } }),
    new ToolMessage({ content: "7".repeat(100_000), tool_call_id: "c1", status: "success" }),
    new AIMessage("Seven."),
  ];
}

test("a history of LangChain gives back the messages that it got, also after a restart", async () => {
  const { kernel } = await diskKernel({ embedder: null });
  const history = new LonghaulChatMessageHistory({ kernel, sessionId: "chat" });
  expect(await history.getMessages()).toEqual([]);
  expect(await kernel.find("chat")).toBeUndefined();
  const said = conversation();
  await history.addMessages(said.slice(0, 2));
  await history.addMessages(said.slice(2));
  const toJson = (messages: readonly object[]) =>
    messages.map((message) => JSON.parse(JSON.stringify(message)));
  expect(toJson(await history.getMessages())).toEqual(toJson(said));
  await history.close();
  const again = new LonghaulChatMessageHistory({ kernel, sessionId: "chat" });
  const messages = await again.getMessages();
  expect(toJson(messages)).toEqual(toJson(said));
  expect(messages[2]).toBeInstanceOf(AIMessage);
  await again.addUserMessage("Thanks.");
  expect((await again.getMessages()).at(-1)?.text).toBe("Thanks.");
});

test("an erased message of a LangChain history keeps its role and its calls", async () => {
  const { kernel } = await diskKernel({ embedder: null });
  const history = new LonghaulChatMessageHistory({ kernel, sessionId: "chat" });
  await history.addMessages(conversation());
  await using session = await kernel.session("chat");
  for (const seq of [1, 2, 3, 4]) await session.redact(seq);
  const messages = await history.getMessages();
  expect(messages.map((message) => message.getType())).toEqual(["system", "human", "ai", "tool", "ai"]);
  expect(messages.slice(0, 4).map(({ text }) => text)).toEqual(Array(4).fill("[removed on request]"));
  expect(messages[2]).toMatchObject({ tool_calls: [{ id: "c1", name: "count", args: {} }] });
  expect(messages[3]).toMatchObject({ tool_call_id: "c1" });
});

test("the messages of a LangChain history are searched, fitted and cleared like those of any session, and the log keeps them", async () => {
  const { kernel } = await diskKernel({ embedder: null });
  const history = new LonghaulChatMessageHistory({ kernel, sessionId: "chat" });
  await history.addMessages(conversation());
  const { hits } = await kernel.memory.recall("How many at the pier?");
  expect(hits[0]).toMatchObject({ session: "chat", seq: 2 });
  await using session = await kernel.session("chat");
  const { messages } = await session.window({ model: "claude-sonnet-4-5" }).look();
  expect(messages[2]?.parts[0]).toMatchObject({ type: "tool-call", callId: "c1", name: "count" });
  expect(messages[3]?.parts[0]).toMatchObject({ type: "tool-result", callId: "c1" });
  const [line] = await session.lines(1);
  await history.clear();
  expect(await history.getMessages()).toEqual([]);
  await history.addMessage(new HumanMessage("A new start."));
  expect(await history.getMessages()).toHaveLength(1);
  await session.choose(line?.seq ?? 0);
  expect(await history.getMessages()).toHaveLength(5);
});
