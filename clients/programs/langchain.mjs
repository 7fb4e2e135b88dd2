import { finish, INSTRUCTIONS, load, readNotes, remembered, setting, TOOL } from "./setting.mjs";

// A LangChain agent.

const { createAgent, tool } = load("langchain");
const { mapChatMessagesToStoredMessages, mapStoredMessagesToChatMessages, HumanMessage } =
  load("@langchain/core/messages");
const { api, url, key, model, prompt } = setting;
const { ChatAnthropic } = load("@langchain/anthropic");
const { ChatOpenAI } = load("@langchain/openai");
const chat =
  api === "anthropic"
    ? new ChatAnthropic({ model, apiKey: key, anthropicApiUrl: url, streaming: true })
    : new ChatOpenAI({
        model,
        apiKey: key,
        configuration: { baseURL: `${url}/v1` },
        useResponsesApi: api === "openai-responses",
        // With streaming Chat Completions it would download tokenizer tables.
        streaming: api === "openai-responses",
      });
const { name, description, parameters } = TOOL;
const agent = createAgent({
  model: chat,
  systemPrompt: INSTRUCTIONS,
  tools: [tool(readNotes, { name, description, schema: parameters })],
});
const before = mapStoredMessagesToChatMessages(remembered());
const { messages } = await agent.invoke(
  { messages: [...before, new HumanMessage(prompt)] },
  { recursionLimit: 100 },
);
finish(mapChatMessagesToStoredMessages(messages), messages.at(-1).text);
