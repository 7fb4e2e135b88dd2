import { join } from "node:path";
import { type Agent, type ApiName, KEY, lastLine, MODEL, WINDOW } from "./agent.ts";

const APIS: Readonly<Partial<Record<ApiName, string>>> = {
  anthropic: "anthropic-messages",
  "openai-chat": "openai-completions",
  "openai-responses": "openai-responses",
};

/** OpenClaw's agent alone, without its service. */
export const openclaw: Agent = {
  name: "openclaw",
  packageName: "openclaw",
  version: "2026.9.6",
  apis: ["anthropic", "openai-chat", "openai-responses"],
  files: ({ url, api, project }) => ({
    ".openclaw/openclaw.json": JSON.stringify({
      agents: {
        defaults: {
          workspace: project,
          skipBootstrap: true,
          model: { primary: `scripted/${MODEL}` },
        },
      },
      models: {
        providers: {
          scripted: {
            baseUrl: api === "anthropic" ? url : `${url}/v1`,
            apiKey: KEY,
            api: APIS[api],
            models: [
              {
                id: MODEL,
                name: MODEL,
                reasoning: false,
                input: ["text"],
                cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
                contextWindow: WINDOW,
                maxTokens: 8_192,
              },
            ],
          },
        },
      },
    }),
  }),
  command({ installed }, prompt) {
    const program = join(installed, "node_modules/openclaw/openclaw.mjs");
    return {
      program: process.execPath,
      args: [program, "agent", "--local", "--agent", "main", "--session-id", "notes", "--message", prompt],
      env: { OPENCLAW_SKIP_UPDATE_CHECK: "1" },
    };
  },
  // Its log goes to the same stream.
  answer: (stdout) => lastLine(stdout.replaceAll(/^\[.*$/gm, "")),
};
