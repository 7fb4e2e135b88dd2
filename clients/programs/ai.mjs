import { finish, INSTRUCTIONS, load, readNotes, remembered, setting, TOOL } from "./setting.mjs";

// The AI SDK with the provider of each API.

const { jsonSchema, stepCountIs, streamText, tool } = load("ai");
const at = { baseURL: `${setting.url}/v1`, apiKey: setting.key };
const MODELS = {
  anthropic: () => load("@ai-sdk/anthropic").createAnthropic(at)(setting.model),
  "openai-chat": () =>
    load("@ai-sdk/openai-compatible").createOpenAICompatible({ name: "scripted", ...at })(setting.model),
  "openai-responses": () => load("@ai-sdk/openai").createOpenAI(at).responses(setting.model),
};
const messages = [...remembered(), { role: "user", content: setting.prompt }];
const { description, parameters } = TOOL;
const result = streamText({
  model: MODELS[setting.api](),
  instructions: INSTRUCTIONS,
  messages,
  tools: { [TOOL.name]: tool({ description, inputSchema: jsonSchema(parameters), execute: readNotes }) },
  stopWhen: stepCountIs(20),
  onError: ({ error }) => {
    throw error;
  },
});
const answer = await result.text;
finish([...messages, ...((await result.responseMessages) ?? (await result.response).messages)], answer);
