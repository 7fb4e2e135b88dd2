import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { BenchMessage, Contestant, Conversation } from "./contestant.ts";
import { Chat, type Graph, type Message, type Update } from "./langgraph-chat.ts";

interface GraphBuilder {
  addNode(name: string, run: () => Promise<Update>): GraphBuilder;
  addEdge(from: string, to: string): GraphBuilder;
  compile(options: { checkpointer: Saver }): Graph;
}

interface Saver {
  readonly db: { close(): void };
}

interface GraphModule {
  readonly StateGraph: new (state: unknown) => GraphBuilder;
  readonly StateSchema: new (fields: object) => unknown;
  readonly MessagesAnnotation: unknown;
  readonly MessagesDeltaValue: unknown;
  readonly START: string;
  readonly END: string;
}

interface SaverModule {
  readonly SqliteSaver: { fromConnString(path: string): Saver };
}

type MessageConstructor = new (content: string | { content: readonly object[] }) => Message;

interface MessageModule {
  readonly HumanMessage: MessageConstructor;
  readonly AIMessage: MessageConstructor;
}

const TRACING_SWITCHES = [
  "LANGSMITH_TRACING",
  "LANGSMITH_TRACING_V2",
  "LANGCHAIN_TRACING",
  "LANGCHAIN_TRACING_V2",
];

/** A LangGraph chat on the SQLite saver, with the state that every LangGraph guide uses. */
export const langgraph: Contestant = {
  name: "langgraph",
  open: (folder) => openChat(folder, (module) => module.MessagesAnnotation, true),
};

/** The same chat on LangGraph's experimental delta channel, which stores changes instead of whole states. */
export const langgraphDelta: Contestant = {
  name: "langgraph-delta",
  // updateState on a new thread loses the delta channel's first write, so there is no appendMany.
  open: (folder) => openChat(folder, deltaState, false),
};

function deltaState({ StateSchema, MessagesDeltaValue }: GraphModule): unknown {
  return new StateSchema({ messages: MessagesDeltaValue });
}

async function openChat(
  folder: string,
  stateOf: (module: GraphModule) => unknown,
  canUpdate: boolean,
): Promise<Conversation> {
  // A bench must not report to a third party.
  for (const name of TRACING_SWITCHES) process.env[name] = "false";
  const module = (await import("@langchain/langgraph" as string)) as GraphModule;
  const { SqliteSaver } = (await import("@langchain/langgraph-checkpoint-sqlite" as string)) as SaverModule;
  const messages = (await import("@langchain/core/messages" as string)) as MessageModule;
  await mkdir(folder, { recursive: true });
  const checkpointer = SqliteSaver.fromConnString(join(folder, "langgraph.db"));
  const chat: Chat = new Chat(
    new module.StateGraph(stateOf(module))
      .addNode("model", () => chat.reply())
      .addEdge(module.START, "model")
      .addEdge("model", module.END)
      .compile({ checkpointer }),
  );
  const toMessage = ({ role, text }: BenchMessage) =>
    role === "user" ? new messages.HumanMessage(text) : new messages.AIMessage(text);
  return {
    append: (message) =>
      message.role === "user" ? chat.begin(toMessage(message)) : chat.end(toMessage(message)),
    ...(canUpdate && { appendMany: (batch: readonly BenchMessage[]) => chat.update(batch.map(toMessage)) }),
    appendImage(bytes, mime) {
      const data = Buffer.from(bytes).toString("base64");
      return chat.begin(new messages.HumanMessage({ content: [{ type: "image", mimeType: mime, data }] }));
    },
    last: (count) => chat.last(count),
    async close() {
      await chat.end();
      checkpointer.db.close();
    },
  };
}
