import { findHeader, type RequestHeaders } from "./request-headers.ts";

/** Patterns of client names in user agents, most specific first, because some clients are built on others. */
const USER_AGENTS: readonly (readonly [RegExp, string])[] = [
  [/claude-(cli|code)/, "claude-code"],
  [/codex/, "codex"],
  [/kilo/, "kilo-code"],
  [/opencode/, "opencode"],
  [/openclaw|clawdbot|moltbot/, "openclaw"],
  [/\broo/, "roo-code"],
  [/\bcline/, "cline"],
  [/\bcontinue/, "continue"],
  [/\bgoose/, "goose"],
  [/aider/, "aider"],
  [/\bzed\//, "zed"],
  [/cursor/, "cursor"],
  [/gemini-?cli/, "gemini-cli"],
  [/qwen-?code/, "qwen-code"],
  [/kimi/, "kimi-code"],
  [/copilot/, "copilot"],
  [/charm-crush|\bcrush\//, "crush"],
  [/factory-cli|\bdroid/, "droid"],
  [/\bamp\//, "amp"],
  [/openhands/, "openhands"],
  [/hermes/, "hermes"],
  [/grok-(shell|build)/, "grok-build"],
  [/\bpi(-coding-agent)?\//, "pi"],
];

/** Headers that only one client sends. */
const OWN_HEADERS: readonly (readonly [string, string])[] = [
  ["x-claude-code-session-id", "claude-code"],
  ["x-codex-window-id", "codex"],
  ["x-codex-turn-metadata", "codex"],
  ["x-kilocode-taskid", "kilo-code"],
  ["x-amp-thread-id", "amp"],
];

/** Names in the system prompts of clients that send the user agent of a library. */
const LEAD_MARKS: readonly (readonly [RegExp, string])[] = [
  [/\binside pi\b|\bpi coding agent\b/i, "pi"],
  [/\bClaude Code\b|\bClaude Agent SDK\b/, "claude-code"],
  [/\bOpenClaw\b/, "openclaw"],
  [/\byou are opencode\b/i, "opencode"],
  [/\byou are cline\b/i, "cline"],
  [/\byou are roo\b/i, "roo-code"],
  [/\bgoose\b.{0,40}\bBlock\b/, "goose"],
  [/\bCodex CLI\b|\byou are Codex\b/i, "codex"],
];

const LEAD_HEAD = 1_000;

/** The name of the client, used for labels and to interpret its cache keys. `lead` is the system prompt. */
export function detectClient(headers: RequestHeaders, lead = ""): string | undefined {
  const headerText = ["originator", "user-agent", "x-title", "x-openrouter-title", "x-client-name"]
    .map((name) => findHeader(headers, name) ?? "")
    .join("\n")
    .toLowerCase();
  const byAgent = USER_AGENTS.find(([mark]) => mark.test(headerText));
  if (byAgent) return byAgent[1];
  const byHeader = OWN_HEADERS.find(([name]) => findHeader(headers, name) !== undefined);
  if (byHeader) return byHeader[1];
  const head = lead.slice(0, LEAD_HEAD);
  return LEAD_MARKS.find(([mark]) => mark.test(head))?.[1];
}
