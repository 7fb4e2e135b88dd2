import { join } from "node:path";
import { type AgentConnector, TOKEN_HEADER, toVersionedUrl, type UserPlace } from "./agent-connector.ts";
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
    instruct: (gateway) =>
      `Set OPENAI_BASE_URL=${toVersionedUrl(gateway)} in your shell; with --auth-type anthropic, ANTHROPIC_BASE_URL=${gateway.url}; with --auth-type gemini, GOOGLE_GEMINI_BASE_URL=${gateway.url}.`,
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
    instruct: ({ url, needsToken }) =>
      `With a key of your own, set GOOGLE_GEMINI_BASE_URL=${url} (on Vertex AI, GOOGLE_VERTEX_BASE_URL=${url}) in your shell or in ~/.gemini/.env${
        needsToken ? `, and GEMINI_CLI_CUSTOM_HEADERS="${TOKEN_HEADER}: $LONGHAUL_TOKEN"` : ""
      }. A login with a Google account goes to another address and not through the gateway.`,
  },
];
