import { fileURLToPath } from "node:url";
import { type Agent, type ApiName, KEY, lastLine, MODEL } from "./agent.ts";

/** A small program built with an SDK: `clients/programs/<file>`. */
function program(
  name: string,
  [packageName, version]: readonly [string, string],
  apis: readonly ApiName[],
  file: string,
  alongside: readonly string[] = [],
): Agent {
  return {
    name,
    packageName,
    version,
    alongside,
    apis,
    files: () => ({}),
    command({ url, api, home, project, installed }, prompt) {
      const setting = { url, api, home, project, installed, prompt, key: KEY, model: MODEL };
      return {
        program: process.execPath,
        args: [fileURLToPath(new URL(`../programs/${file}`, import.meta.url))],
        env: { LONGHAUL_PROGRAM: JSON.stringify(setting) },
      };
    },
    answer: lastLine,
  };
}

/** Programs built with the SDKs that most agents use. */
export const SDKS: readonly Agent[] = [
  program("openai-sdk", ["openai", "7.53.0"], ["openai-chat", "openai-responses"], "openai.mjs"),
  program("anthropic-sdk", ["@anthropic-ai/sdk", "1.8.0"], ["anthropic"], "anthropic.mjs"),
  program("ai-sdk", ["ai", "7.0.169"], ["anthropic", "openai-chat", "openai-responses"], "ai.mjs", [
    "@ai-sdk/anthropic@4.0.102",
    "@ai-sdk/openai@4.0.114",
    "@ai-sdk/openai-compatible@3.0.90",
  ]),
  program(
    "langchain",
    ["langchain", "1.5.14"],
    ["anthropic", "openai-chat", "openai-responses"],
    "langchain.mjs",
    // Newer graphs ask for a core that was not published, over which npm resolves for ever.
    ["@langchain/anthropic@1.5.11", "@langchain/openai@1.6.0", "@langchain/langgraph@1.4.13"],
  ),
  program(
    "openai-agents",
    ["@openai/agents", "0.20.0"],
    ["openai-chat", "openai-responses"],
    "openai-agents.mjs",
    ["openai@7.53.0"],
  ),
];
