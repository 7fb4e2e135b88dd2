import { finish, INSTRUCTIONS, load, readNotes, remembered, setting, TOOL } from "./setting.mjs";

// The OpenAI SDK: its tool runner on Chat Completions, a custom loop on Responses.

const { OpenAI } = load("openai");
const client = new OpenAI({ baseURL: `${setting.url}/v1`, apiKey: setting.key });
const { model, prompt } = setting;

if (setting.api === "openai-chat") {
  const messages = remembered([{ role: "system", content: INSTRUCTIONS }]);
  messages.push({ role: "user", content: prompt });
  const run = { ...TOOL, function: readNotes, parse: JSON.parse };
  const body = {
    model,
    messages,
    stream: true,
    stream_options: { include_usage: true },
    tools: [{ type: "function", function: run }],
  };
  // Its usual ten end a turn of ten reads before the answer.
  const runner = client.chat.completions.runTools(body, { maxChatCompletions: 40 });
  const answer = await runner.finalContent();
  finish(runner.messages, answer);
} else {
  const input = remembered();
  input.push({ role: "user", content: prompt });
  const tools = [{ type: "function", ...TOOL, strict: false }];
  for (;;) {
    const stream = client.responses.stream({ model, instructions: INSTRUCTIONS, input, tools, store: false });
    const response = await stream.finalResponse();
    input.push(...response.output.map(({ parsed_arguments, ...item }) => item));
    const calls = response.output.filter(({ type }) => type === "function_call");
    if (calls.length === 0) {
      finish(input, response.output_text);
      break;
    }
    for (const { call_id, arguments: given } of calls)
      input.push({ type: "function_call_output", call_id, output: readNotes(JSON.parse(given)) });
  }
}
