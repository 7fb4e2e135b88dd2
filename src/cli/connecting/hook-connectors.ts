import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  buildHookSettings,
  buildOpencodePlugin,
  HOOK_CLIENTS,
  HOOK_SETUPS,
  type HookClientName,
} from "../../adapters/hooks/index.ts";
import { SKILL_FILE } from "../../adapters/mcp/index.ts";
import { resolveModuleFile } from "../../model/base/package-files.ts";
import { quoteShellWord } from "../terminal/quote-shell-word.ts";
import type { AgentConnector, ConfigFileSpec, Setting, UserPlace } from "./agents/agent-connector.ts";
import { CONNECTORS } from "./agents/connectors.ts";
import type { StdioServer } from "./mcp/stdio-server.ts";
import type { ConfigSyntax, SettingValue } from "./syntax/config-syntax.ts";
import { jsonSyntax } from "./syntax/json-syntax.ts";

/** A file that belongs to longhaul as a whole, such as a plugin's module; its one setting is its text. */
const wholeFileSyntax: ConfigSyntax = {
  name: "text",
  findRaw: (text) => (text === "" ? undefined : text),
  findString: (text) => (text === "" ? undefined : text),
  listNames: () => [],
  setRaw: (_text, _path, raw) => raw,
  remove: () => "",
  encode: String,
};

/** The files in which agents keep hooks. */
const FILES: Readonly<Record<HookClientName, (place: UserPlace) => string>> = {
  "claude-code": ({ env, home }) => join(env.CLAUDE_CONFIG_DIR || join(home, ".claude"), "settings.json"),
  codex: ({ env, home }) => join(env.CODEX_HOME || join(home, ".codex"), "hooks.json"),
  opencode: ({ env, home }) =>
    join(env.XDG_CONFIG_HOME || join(home, ".config"), "opencode", "plugins", "longhaul.js"),
  "gemini-cli": ({ home }) => join(home, ".gemini", "settings.json"),
  cursor: ({ home }) => join(home, ".cursor", "hooks.json"),
  "qwen-code": ({ home }) => join(home, ".qwen", "settings.json"),
  copilot: ({ home }) => join(home, ".copilot", "hooks", "longhaul.json"),
};

const NOTES: Partial<Readonly<Record<HookClientName, string>>> = {
  codex: "Codex asks once, at its next start, whether it may run these hooks.",
};

/** Agents with hooks, whether or not the gateway can serve them. */
export const HOOK_AGENTS: readonly AgentConnector[] = HOOK_CLIENTS.map(
  (name) =>
    CONNECTORS.find((connector) => connector.name === name) ?? {
      name,
      title: HOOK_SETUPS[name].title,
      programs: [name, `${name}-agent`],
      listTraces: ({ home }) => [join(home, `.${name}`)],
    },
);

/** The skill in the folder that agents share. */
export const skillConnector: AgentConnector = {
  name: "skill-hooks",
  title: "Skill for all agents",
  programs: [],
  listTraces: () => [],
  file: {
    syntax: wholeFileSyntax,
    listPaths: ({ home }) => [join(home, ".agents", "skills", "longhaul-memory", "SKILL.md")],
    plan: () => ({ settings: [{ path: ["text"], value: SKILL_FILE }], notes: [] }),
  },
};

/** The connector of an agent's hooks. With an HTTP address, agents that support it call a gateway's route. */
export function toHookConnector(connector: AgentConnector, server: StdioServer): AgentConnector {
  const { name, programs, listTraces } = connector;
  const base = { name: `${name}-hooks`, title: `${connector.title} (hooks)`, programs, listTraces };
  const client = HOOK_CLIENTS.find((one) => one === name);
  if (!client) return { ...base, unsupported: "It has no hooks that longhaul knows." };
  return { ...base, file: toFileSpec(client, toHookProgram(server)) };
}

/** The command of a hook. npx looks for updates first, which takes longer than a hook may: this copy is named instead. */
function toHookProgram({ program, args }: StdioServer): StdioServer {
  const hook = args.map((arg) => (arg === "mcp" ? "hook" : arg));
  if (program !== "npx") return { program, args: hook };
  const main = fileURLToPath(resolveModuleFile("cli/main"));
  return { program: process.execPath, args: [main, ...hook.slice(2)] };
}

function toFileSpec(client: HookClientName, { program, args }: StdioServer): ConfigFileSpec {
  const listPaths = (place: UserPlace) => [FILES[client](place)];
  const { form } = HOOK_SETUPS[client];
  if (form === "module")
    return {
      syntax: wholeFileSyntax,
      listPaths,
      plan: () => ({ settings: [{ path: ["text"], value: buildOpencodePlugin(program, args) }], notes: [] }),
    };
  const toLine = (...words: readonly string[]) => [program, ...args, ...words].map(quoteShellWord).join(" ");
  return {
    syntax: jsonSyntax,
    listPaths,
    plan(reader, { url, needsToken }) {
      const isHttp = client === "claude-code" && /^https?:/.test(url);
      const http = isHttp ? { url: `${url}/hooks/${client}`, needsToken } : undefined;
      const hooks = buildHookSettings(client, (event) => toLine(event, "--client", client), http);
      const settings = Object.entries(hooks).map(([name, own]): Setting => {
        const before = reader.findRaw(["hooks", name]);
        return { path: ["hooks", name], value: [...parseList(before), ...own] as SettingValue };
      });
      const isVersioned = form === "flat" && !reader.has(["version"]);
      const status = client === "claude-code" && !reader.has(["statusLine"]);
      const line = toLine().replace(/ hook( |$)/, " statusline$1");
      return {
        settings: [
          ...(isVersioned ? [{ path: ["version"], value: 1 }] : []),
          ...settings,
          ...(status ? [{ path: ["statusLine"], value: { type: "command", command: line } }] : []),
        ],
        notes: [
          ...[NOTES[client] ?? []].flat(),
          ...(isHttp && needsToken
            ? ["Export LONGHAUL_TOKEN in your shell before you start the agent."]
            : []),
        ],
      };
    },
  };
}

/** The hooks that a file has; none if it has another form there, which the agent itself would refuse. */
function parseList(raw: string | undefined): readonly SettingValue[] {
  try {
    const value: unknown = JSON.parse(raw ?? "[]");
    return Array.isArray(value) ? (value as SettingValue[]) : [];
  } catch {
    return [];
  }
}
