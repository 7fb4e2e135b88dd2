import { join } from "node:path";
import { type Agent, type ApiName, KEY, lastLine, MODEL, WINDOW } from "./agent.ts";

const APIS: Readonly<Partial<Record<ApiName, string>>> = {
  anthropic: "anthropic-messages",
  "openai-chat": "openai-completions",
  "openai-responses": "openai-responses",
};

export const pi: Agent = {
  name: "pi",
  packageName: "@mariozechner/pi-coding-agent",
  version: "0.73.1",
  apis: ["anthropic", "openai-chat", "openai-responses"],
  files: ({ url, api }) => ({
    ".pi/agent/models.json": JSON.stringify({
      providers: {
        scripted: {
          baseUrl: api === "anthropic" ? url : `${url}/v1`,
          api: APIS[api],
          apiKey: KEY,
          models: [
            {
              id: MODEL,
              name: MODEL,
              reasoning: false,
              input: ["text"],
              contextWindow: WINDOW,
              maxTokens: 8_192,
              cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
            },
          ],
        },
      },
    }),
  }),
  command({ installed }, prompt, isFirst) {
    const program = join(installed, "node_modules/@mariozechner/pi-coding-agent/dist/cli.js");
    return {
      program: process.execPath,
      args: [
        program,
        "--provider",
        "scripted",
        "--model",
        MODEL,
        ...(isFirst ? [] : ["--continue"]),
        "-p",
        prompt,
      ],
      env: { PI_OFFLINE: "1", PI_SKIP_VERSION_CHECK: "1", PI_TELEMETRY: "0" },
    };
  },
  answer: lastLine,
};
