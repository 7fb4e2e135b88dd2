import { join } from "node:path";
import { type AgentConnector, toVersionedUrl, type UserPlace } from "./agent-connector.ts";
import { describeClineDialog } from "./cline-connector.ts";

/** Folders of editors that keep the settings of extensions in a database. */
const EDITORS = ["Code", "Code - Insiders", "Cursor", "Windsurf", "VSCodium"];

/** The places where editors keep the data of an extension. */
export function listExtensionFolders(
  { home, env, platform }: UserPlace,
  extension: string,
): readonly string[] {
  const data =
    platform === "darwin"
      ? join(home, "Library", "Application Support")
      : platform === "win32"
        ? env.APPDATA || join(home, "AppData", "Roaming")
        : env.XDG_CONFIG_HOME || join(home, ".config");
  return EDITORS.map((editor) => join(data, editor, "User", "globalStorage", extension));
}

/** Agents whose settings are in an editor's database or in variables, and those that the gateway cannot serve. */
export const MANUAL_CONNECTORS: readonly AgentConnector[] = [
  {
    name: "cline-editor",
    title: "Cline (editor)",
    programs: [],
    listTraces: (place) => listExtensionFolders(place, "saoudrizwan.claude-dev"),
    instruct: describeClineDialog,
  },
  {
    name: "roo",
    title: "Roo Code",
    programs: [],
    listTraces: (place) => listExtensionFolders(place, "rooveterinaryinc.roo-cline"),
    instruct: (gateway) =>
      `In Roo Code's settings choose API Provider "Anthropic", tick "Use custom base URL" and enter ${gateway.url}; or choose "OpenAI Compatible" with ${toVersionedUrl(gateway)}.`,
  },
  {
    name: "qwen-code",
    title: "Qwen Code",
    programs: ["qwen"],
    listTraces: ({ home }) => [join(home, ".qwen")],
    instruct: (gateway) => `Set OPENAI_BASE_URL=${toVersionedUrl(gateway)} in your shell.`,
  },
  {
    name: "copilot",
    title: "Copilot CLI",
    programs: ["copilot"],
    listTraces: ({ home }) => [join(home, ".copilot")],
    instruct: (gateway) =>
      `With a key of your own, set COPILOT_PROVIDER_BASE_URL=${toVersionedUrl(gateway)} and COPILOT_MODEL in your shell. Copilot's own models cannot go through the gateway.`,
  },
  {
    name: "gemini-cli",
    title: "Gemini CLI",
    programs: ["gemini"],
    listTraces: ({ home }) => [join(home, ".gemini")],
    unsupported:
      'It speaks Google\'s own API, which the gateway does not serve. Its conversations can be imported: "longhaul import".',
  },
];
