import { join } from "node:path";
import { jsonSyntax } from "../syntax/json-syntax.ts";
import { type AgentConnector, describeReplacedUrl, TOKEN_HEADER, type UserPlace } from "./agent-connector.ts";

const URL_PATH = ["env", "ANTHROPIC_BASE_URL"];
const CLOUDS = ["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"];

function getFolder({ env, home }: UserPlace): string {
  return env.CLAUDE_CONFIG_DIR || join(home, ".claude");
}

/** Claude Code reads variables from `env` in its user settings. */
export const claudeCodeConnector: AgentConnector = {
  name: "claude-code",
  title: "Claude Code",
  programs: ["claude"],
  listTraces: (place) => [getFolder(place), join(place.home, ".claude.json")],
  file: {
    syntax: jsonSyntax,
    listPaths: (place) => [join(getFolder(place), "settings.json")],
    plan(reader, gateway, { env }) {
      const cloud = CLOUDS.find((name) => env[name] || reader.has(["env", name]));
      if (cloud !== undefined)
        return {
          instructions: `${cloud} is set: Claude Code then speaks the cloud's own API, which the gateway does not serve. Unset it to use the gateway.`,
        };
      return {
        settings: [{ path: URL_PATH, value: gateway.url }],
        notes: [
          ...describeReplacedUrl(reader.findString(URL_PATH), "anthropic", gateway),
          ...(gateway.needsToken
            ? [
                `The gateway requires a token: export ANTHROPIC_CUSTOM_HEADERS="${TOKEN_HEADER}: $LONGHAUL_TOKEN" in your shell. longhaul writes no secrets into files.`,
              ]
            : []),
        ],
      };
    },
  },
};
