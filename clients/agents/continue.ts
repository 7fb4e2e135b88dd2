import { join } from "node:path";
import { type Agent, KEY, lastLine } from "./agent.ts";

export const continueDev: Agent = {
  name: "continue",
  packageName: "@continuedev/cli",
  version: "1.5.47",
  apis: ["openai-chat", "anthropic"],
  files: ({ url, api }) => ({
    ".continue/config.yaml": [
      "name: scripted",
      "version: 1.0.0",
      "schema: v1",
      "models:",
      "  - name: scripted",
      // It offers tools only to models that it knows.
      ...(api === "anthropic"
        ? ["    provider: anthropic", "    model: claude-sonnet-4-5"]
        : ["    provider: openai", "    model: gpt-4o"]),
      `    apiBase: ${url}/v1`,
      `    apiKey: ${KEY}`,
      "    roles: [chat]",
      "    capabilities: [tool_use]",
    ].join("\n"),
  }),
  command({ home, installed }, prompt, isFirst) {
    const program = join(installed, "node_modules/@continuedev/cli/dist/cn.js");
    const options = ["--config", join(home, ".continue/config.yaml"), "--auto"];
    return {
      program: process.execPath,
      args: [program, ...options, ...(isFirst ? [] : ["--resume"]), "-p", prompt],
      env: { CONTINUE_TELEMETRY_ENABLED: "0", CONTINUE_CLI_AUTO_UPDATED: "1" },
    };
  },
  answer: lastLine,
};
