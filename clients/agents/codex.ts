import { join } from "node:path";
import { type Agent, jsonLines, KEY, MODEL } from "./agent.ts";

const SETTINGS = [`model = "${MODEL}"`, "check_for_update_on_startup = false"];
const QUIET = ["[analytics]", "enabled = false"];

const shared = {
  packageName: "@openai/codex",
  version: "0.166.0",
  apis: ["openai-responses"],
  command({ installed }, prompt, isFirst) {
    const program = join(installed, "node_modules/@openai/codex/bin/codex.js");
    // Its own sandbox needs permissions that containers rarely have; the scripted model runs only cat.
    const options = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--json"];
    return {
      program: process.execPath,
      args: [program, "exec", ...options, ...(isFirst ? [] : ["resume", "--last"]), prompt],
      env: { OPENAI_API_KEY: KEY },
    };
  },
  answer(stdout) {
    const items = jsonLines(stdout).map(({ item }) => item as { type?: string; text?: string } | undefined);
    return items.findLast((item) => item?.type === "agent_message")?.text ?? "";
  },
} satisfies Omit<Agent, "name" | "files">;

/** Codex with a custom provider for the gateway. */
export const codex: Agent = {
  ...shared,
  name: "codex",
  files: ({ url }) => ({
    ".codex/config.toml": [
      ...SETTINGS,
      'model_provider = "longhaul"',
      ...QUIET,
      "[model_providers.longhaul]",
      'name = "longhaul"',
      `base_url = "${url}/v1"`,
      'wire_api = "responses"',
      'env_key = "OPENAI_API_KEY"',
    ].join("\n"),
  }),
};

/** Codex with its default provider at another address, in which case it tries a WebSocket first. */
export const codexOpenai: Agent = {
  ...shared,
  name: "codex-openai",
  files: ({ url }) => ({
    ".codex/config.toml": [...SETTINGS, `openai_base_url = "${url}/v1"`, ...QUIET].join("\n"),
    ".codex/auth.json": JSON.stringify({ auth_mode: "apikey", OPENAI_API_KEY: KEY }),
  }),
};
