import { join } from "node:path";
import { type Agent, KEY, MODEL } from "./agent.ts";

export const geminiCli: Agent = {
  name: "gemini-cli",
  packageName: "@google/gemini-cli",
  version: "0.61.0",
  apis: ["google"],
  files: () => ({
    ".gemini/settings.json": JSON.stringify({
      general: { disableAutoUpdate: true, enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
    }),
  }),
  command({ url, installed }, prompt, isFirst) {
    const program = join(installed, "node_modules/@google/gemini-cli/bundle/gemini.js");
    const options = ["--model", MODEL, "--yolo", "--output-format", "json"];
    return {
      program: process.execPath,
      args: [program, ...options, ...(isFirst ? [] : ["--resume", "latest"]), "--prompt", prompt],
      env: {
        GOOGLE_GEMINI_BASE_URL: url,
        GEMINI_API_KEY: KEY,
        GEMINI_CLI_TRUST_WORKSPACE: "true",
        GEMINI_TELEMETRY_ENABLED: "false",
      },
    };
  },
  answer(stdout) {
    try {
      return String(
        (JSON.parse(stdout.slice(stdout.indexOf("{"))) as { readonly response?: string }).response ?? "",
      );
    } catch {
      return stdout;
    }
  },
};
