import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type Agent, jsonLines, KEY, MODEL } from "./agent.ts";

const DATA = ".cline/data";

/** Cline's command line: the last version that runs on Node itself, and so on every platform. */
export const cline: Agent = {
  name: "cline",
  packageName: "cline",
  version: "2.18.0",
  apis: ["openai-chat", "anthropic"],
  files: ({ url, api }) => ({
    [`${DATA}/globalState.json`]: JSON.stringify({
      ...(api === "anthropic"
        ? {
            actModeApiProvider: "anthropic",
            planModeApiProvider: "anthropic",
            actModeApiModelId: "claude-sonnet-4-5-20250929",
            planModeApiModelId: "claude-sonnet-4-5-20250929",
            anthropicBaseUrl: url,
          }
        : {
            actModeApiProvider: "openai",
            planModeApiProvider: "openai",
            actModeOpenAiModelId: MODEL,
            planModeOpenAiModelId: MODEL,
            openAiBaseUrl: `${url}/v1`,
          }),
      welcomeViewCompleted: true,
      telemetrySetting: "disabled",
    }),
    [`${DATA}/secrets.json`]: JSON.stringify({ [api === "anthropic" ? "apiKey" : "openAiApiKey"]: KEY }),
  }),
  command({ home, installed }, prompt, isFirst) {
    const program = join(installed, "node_modules/cline/dist/cli.mjs");
    const [task = "none"] = isFirst ? [] : readdirSync(join(home, DATA, "tasks"));
    return {
      program: process.execPath,
      args: [program, "--act", "--yolo", "--json", ...(isFirst ? [] : ["--taskId", task]), prompt],
      env: { CLINE_NO_AUTO_UPDATE: "1", CLINE_TELEMETRY_DISABLED: "1" },
    };
  },
  answer: (stdout) =>
    String(jsonLines(stdout).findLast(({ say }) => say === "completion_result")?.text ?? ""),
};
