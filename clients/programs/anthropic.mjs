import { finish, INSTRUCTIONS, load, readNotes, remembered, setting, TOOL } from "./setting.mjs";

// Anthropic's SDK: a token count, then its streaming tool runner; each request sends the whole conversation.

const { default: Anthropic } = load("@anthropic-ai/sdk");
const client = new Anthropic({ baseURL: setting.url, apiKey: setting.key });
const { model, prompt } = setting;
const messages = [...remembered(), { role: "user", content: prompt }];
const { name, description, parameters } = TOOL;
const offered = { name, description, input_schema: parameters };
const system = [{ type: "text", text: INSTRUCTIONS, cache_control: { type: "ephemeral" } }];
await client.messages.countTokens({ model, system, messages, tools: [offered] });
const runner = client.beta.messages.toolRunner({
  model,
  system,
  messages,
  max_tokens: 4_096,
  stream: true,
  thread: false,
  betas: ["interleaved-thinking-2025-05-14"],
  tools: [{ ...offered, run: readNotes, parse: (input) => input }],
});
for await (const stream of runner) await stream.finalMessage();
const last = await runner.done();
const answer = last.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
finish([...runner.params.messages], answer);
