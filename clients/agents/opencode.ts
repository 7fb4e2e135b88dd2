import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Agent, KEY, lastLine, MODEL, WINDOW } from "./agent.ts";

const PACKAGES = {
  anthropic: "@ai-sdk/anthropic",
  "openai-chat": "@ai-sdk/openai-compatible",
  "openai-responses": "@ai-sdk/openai",
} as const;

export const opencode: Agent = {
  name: "opencode",
  packageName: "opencode-ai",
  version: "1.18.18",
  apis: ["openai-chat", "anthropic", "openai-responses"],
  files: ({ url, api }) => ({
    ".config/opencode/opencode.json": JSON.stringify({
      autoupdate: false,
      share: "disabled",
      model: `scripted/${MODEL}`,
      small_model: `scripted/${MODEL}`,
      provider: {
        scripted: {
          npm: PACKAGES[api as keyof typeof PACKAGES],
          name: "scripted",
          options: { baseURL: `${url}/v1`, apiKey: KEY },
          models: { [MODEL]: { name: MODEL, limit: { context: WINDOW, output: 8_192 } } },
        },
      },
    }),
  }),
  command({ installed }, prompt, isFirst) {
    const program = programIn(join(installed, "node_modules"));
    return program === undefined
      ? undefined
      : {
          program,
          args: ["run", ...(isFirst ? [] : ["--continue"]), prompt],
          env: {
            OPENCODE_DISABLE_AUTOUPDATE: "1",
            OPENCODE_DISABLE_MODELS_FETCH: "1",
            OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
          },
        };
  },
  answer: lastLine,
};

/** The program itself, because the package's launcher works only after install scripts. */
function programIn(modules: string): string | undefined {
  const packages = readdirSync(modules).filter((name) => name.startsWith(`opencode-${process.platform}-`));
  return packages.map((name) => join(modules, name, "bin/opencode")).find((path) => existsSync(path));
}
