import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Agent, KEY, lastLine, MODEL } from "./agent.ts";

/** GitHub Copilot's command line with a custom provider. */
export const copilot: Agent = {
  name: "copilot",
  packageName: "@github/copilot",
  version: "1.0.102",
  apis: ["openai-chat", "anthropic", "openai-responses"],
  files: () => ({}),
  command({ url, api, installed }, prompt, isFirst) {
    const platform = `copilot-${process.platform}-${process.arch}`;
    const program = join(installed, "node_modules/@github", platform, "copilot");
    if (!existsSync(program)) return undefined;
    return {
      program,
      args: [
        "--silent",
        "--allow-all-tools",
        "--allow-all-paths",
        ...(isFirst ? [] : ["--continue"]),
        "-p",
        prompt,
      ],
      env: {
        COPILOT_OFFLINE: "true",
        COPILOT_AUTO_UPDATE: "false",
        COPILOT_PROVIDER_TYPE: api === "anthropic" ? "anthropic" : "openai",
        COPILOT_PROVIDER_WIRE_API: api === "openai-responses" ? "responses" : "completions",
        COPILOT_PROVIDER_BASE_URL: api === "anthropic" ? url : `${url}/v1`,
        COPILOT_PROVIDER_API_KEY: KEY,
        COPILOT_MODEL: MODEL,
      },
    };
  },
  answer: lastLine,
};
