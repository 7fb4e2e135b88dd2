import { finish, INSTRUCTIONS, load, readNotes, remembered, setting, TOOL } from "./setting.mjs";

// The OpenAI Agents SDK.

const { Agent, run, setDefaultOpenAIClient, setOpenAIAPI, setTracingDisabled, tool } = load("@openai/agents");
const { OpenAI } = load("openai");
setTracingDisabled(true);
setDefaultOpenAIClient(new OpenAI({ baseURL: `${setting.url}/v1`, apiKey: setting.key }));
setOpenAIAPI(setting.api === "openai-chat" ? "chat_completions" : "responses");
const { name, description, parameters } = TOOL;
const agent = new Agent({
  name: "reader",
  instructions: INSTRUCTIONS,
  model: setting.model,
  tools: [
    tool({
      name,
      description,
      strict: false,
      parameters: { ...parameters, additionalProperties: true },
      execute: readNotes,
    }),
  ],
});
const result = await run(agent, [...remembered(), { role: "user", content: setting.prompt }], {
  stream: true,
  // The default of ten ends a turn that reads more files.
  maxTurns: 40,
});
await result.completed;
finish(result.history, result.finalOutput);
