import { join } from "node:path";
import { type Agent, type ApiName, jsonLines, KEY, MODEL } from "./agent.ts";

const AUTHS: Readonly<Record<ApiName, string>> = {
  anthropic: "anthropic",
  "openai-chat": "openai",
  "openai-responses": "openai-responses",
  google: "gemini",
};

export const qwenCode: Agent = {
  name: "qwen-code",
  packageName: "@qwen-code/qwen-code",
  version: "0.24.4",
  apis: ["openai-chat", "anthropic", "openai-responses", "google"],
  files: () => ({
    ".qwen/settings.json": JSON.stringify({
      general: { disableAutoUpdate: true, disableUpdateNag: true },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
    }),
  }),
  command({ url, api, installed }, prompt, isFirst) {
    const program = join(installed, "node_modules/@qwen-code/qwen-code/cli.js");
    const options = ["--auth-type", AUTHS[api], "--model", MODEL, "--yolo", "--output-format", "stream-json"];
    return {
      program: process.execPath,
      args: [program, ...options, ...(isFirst ? [] : ["--continue"]), prompt],
      env:
        api === "google"
          ? { GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: KEY, GEMINI_MODEL: MODEL }
          : api === "anthropic"
            ? { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: KEY, ANTHROPIC_MODEL: MODEL }
            : { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: KEY, OPENAI_MODEL: MODEL },
    };
  },
  answer: (stdout) => String(jsonLines(stdout).findLast(({ type }) => type === "result")?.result ?? ""),
};
