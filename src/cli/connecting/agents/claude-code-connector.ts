import { join } from "node:path";
import { jsonSyntax } from "../syntax/json-syntax.ts";
import {
  type AgentConnector,
  describeReplacedUrl,
  type FeatureChange,
  TOKEN_HEADER,
  type UserPlace,
} from "./agent-connector.ts";

/** Makes Claude Code send an address of another name all that it sends to Anthropic's. */
const FIRST_PARTY = "_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL";
/** One session without the gateway: settings of the command line come before those of the file. */
const DIRECT = `for one session without the gateway: claude --settings '{"env":{"ANTHROPIC_BASE_URL":"https://api.anthropic.com"}}'`;

/** Features that depend on the address itself; no setting brings them back. */
const BOUND_TO_ADDRESS: readonly FeatureChange[] = [
  { feature: "Remote Control is refused", remedy: DIRECT },
  {
    feature: "reminders stay in the conversation (beta mid-conversation-system-clear-at is not sent)",
    remedy: DIRECT,
  },
  { feature: "with a claude.ai login, an idle session does not keep its prompt cache warm", remedy: DIRECT },
  { feature: "conversations are sent whole (no message threads stored by Anthropic)", remedy: DIRECT },
  {
    feature: "an organization's rule about Claude in Chrome is not looked up",
    remedy: DIRECT,
  },
];

const NOT_ANTHROPIC = `the upstream was not Anthropic when it was connected; if it is, connect it again, and if it passes everything on to Anthropic, set ${FIRST_PARTY} to "1" in "env" of settings.json`;

/** Features that Claude Code keeps for Anthropic's API, and uses at any address that claims to be it. */
const BOUND_TO_ANTHROPIC: readonly FeatureChange[] = [
  "the cache scope of the system prompt (beta prompt-caching-scope)",
  "controls of thinking (beta thinking-binding-controls)",
  "causes of cache misses (beta cache-diagnosis, field diagnostics)",
  "settings that an organization manages",
  "tool search for MCP tools, unless ENABLE_TOOL_SEARCH is set",
].map((feature) => ({ feature: `it does not use ${feature}`, remedy: NOT_ANTHROPIC }));

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
  listFeatureChanges: (text) =>
    text.includes(FIRST_PARTY) ? BOUND_TO_ADDRESS : [...BOUND_TO_ANTHROPIC, ...BOUND_TO_ADDRESS],
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
        settings: [
          { path: URL_PATH, value: gateway.url },
          ...(gateway.isAnthropic ? [{ path: ["env", FIRST_PARTY], value: "1" }] : []),
        ],
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
