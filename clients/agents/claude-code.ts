import { join } from "node:path";
import { type Agent, jsonLines, KEY } from "./agent.ts";

export const claudeCode: Agent = {
  name: "claude-code",
  packageName: "@anthropic-ai/claude-code",
  version: "2.1.326",
  apis: ["anthropic"],
  files: () => ({}),
  command({ url, installed }, prompt, isFirst) {
    // The launcher finds the platform's program even if install scripts were not run.
    const launcher = join(installed, "node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs");
    return {
      program: process.execPath,
      args: [launcher, "-p", prompt, "--output-format", "json", ...(isFirst ? [] : ["--continue"])],
      env: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: KEY,
        // A model that binds its thinking to everything before it.
        ANTHROPIC_MODEL: "claude-opus-5-5",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_AUTOUPDATER: "1",
      },
    };
  },
  answer: (stdout) => String(jsonLines(stdout).at(-1)?.result ?? ""),
};
