import { join } from "node:path";
import type { GatewayAddress } from "../../../server/gateway/index.ts";
import {
  type AgentConnector,
  type ConfigFileSpec,
  type Setting,
  TOKEN_HEADER,
  type UserPlace,
} from "../agents/agent-connector.ts";
import { listExtensionFolders } from "../agents/connectors.ts";
import type { ConfigSyntax, SettingPath, SettingValue } from "../syntax/config-syntax.ts";
import { jsonSyntax } from "../syntax/json-syntax.ts";
import { tomlSyntax } from "../syntax/toml-syntax.ts";
import type { StdioServer } from "./stdio-server.ts";

/** The form in which an agent's file names an MCP server. */
interface McpForm {
  readonly syntax: ConfigSyntax;
  readonly listPaths: (place: UserPlace) => readonly string[];
  /** The table of servers. */
  readonly servers: SettingPath;
  readonly stdio: (server: StdioServer) => Readonly<Record<string, SettingValue>>;
  /** Absent if the agent takes no address, or in a form that is not known. */
  readonly http?: (url: string, needsToken: boolean) => Readonly<Record<string, SettingValue>>;
  readonly notes?: readonly string[];
}

const NAME = "longhaul";
const toCommand = ({ program, args }: StdioServer) => ({ command: program, args });
// biome-ignore lint/suspicious/noTemplateCurlyInString: the agents' own way to name a variable
const TOKEN_VARIABLE = "${LONGHAUL_TOKEN}";
const toHeaders = (needsToken: boolean, value = TOKEN_VARIABLE) =>
  needsToken ? { headers: { [TOKEN_HEADER]: value } } : {};
const WRITES_ITSELF = "It writes this file while it runs: close it first.";

/** The form that most agents share. */
function jsonForm(listPaths: McpForm["listPaths"], servers: SettingPath = ["mcpServers"]): McpForm {
  return { syntax: jsonSyntax, listPaths, servers, stdio: toCommand };
}

const FORMS: Readonly<Record<string, McpForm>> = {
  "claude-code": {
    ...jsonForm(({ env, home }) => [join(env.CLAUDE_CONFIG_DIR || home, ".claude.json")]),
    stdio: (server) => ({ type: "stdio", ...toCommand(server) }),
    http: (url, needsToken) => ({ type: "http", url, ...toHeaders(needsToken) }),
    notes: [WRITES_ITSELF],
  },
  codex: {
    syntax: tomlSyntax,
    listPaths: ({ env, home }) => [join(env.CODEX_HOME || join(home, ".codex"), "config.toml")],
    servers: ["mcp_servers"],
    stdio: toCommand,
    http: (url, needsToken) => ({
      url,
      ...(needsToken && { env_http_headers: { [TOKEN_HEADER]: "LONGHAUL_TOKEN" } }),
    }),
  },
  opencode: {
    syntax: jsonSyntax,
    listPaths: ({ env, home }) =>
      ["opencode.json", "opencode.jsonc", "config.json"].map((name) =>
        join(env.XDG_CONFIG_HOME || join(home, ".config"), "opencode", name),
      ),
    servers: ["mcp"],
    stdio: ({ program, args }) => ({ type: "local", command: [program, ...args], enabled: true }),
    http: (url, needsToken) => ({
      type: "remote",
      url,
      enabled: true,
      ...toHeaders(needsToken, "{env:LONGHAUL_TOKEN}"),
    }),
  },
  cline: jsonForm(({ env, home }) => [
    join(env.CLINE_DIR || join(home, ".cline"), "data", "settings", "cline_mcp_settings.json"),
  ]),
  "cline-editor": jsonForm((place) =>
    listExtensionFolders(place, "saoudrizwan.claude-dev").map((folder) =>
      join(folder, "settings", "cline_mcp_settings.json"),
    ),
  ),
  roo: jsonForm((place) =>
    listExtensionFolders(place, "rooveterinaryinc.roo-cline").map((folder) =>
      join(folder, "settings", "mcp_settings.json"),
    ),
  ),
  openclaw: jsonForm(
    ({ env, home }) => [
      env.OPENCLAW_CONFIG_PATH || join(env.OPENCLAW_STATE_DIR || join(home, ".openclaw"), "openclaw.json"),
    ],
    ["mcp", "servers"],
  ),
  "qwen-code": jsonForm(({ home }) => [join(home, ".qwen", "settings.json")]),
  "gemini-cli": jsonForm(({ home }) => [join(home, ".gemini", "settings.json")]),
  copilot: {
    ...jsonForm(({ home }) => [join(home, ".copilot", "mcp-config.json")]),
    stdio: (server) => ({ type: "local", ...toCommand(server), tools: ["*"] }),
  },
};

const WITHOUT_FILE: Readonly<Record<string, string>> = {
  pi: 'It has no support for MCP. The gateway gives it the same tools: "longhaul connect pi".',
};

/** An address that stands for the server on standard streams: the program to start. */
export function toStdioAddress({ program }: StdioServer): GatewayAddress {
  return { url: program, needsToken: false };
}

/**
 * The connector of an agent's list of MCP servers. An address of HTTP names the endpoint of a gateway; any other stands
 * for the server on standard streams.
 */
export function toMcpConnector(connector: AgentConnector, server: StdioServer): AgentConnector {
  const { name, programs, listTraces } = connector;
  const base = { name: `${name}-mcp`, title: `${connector.title} (MCP)`, programs, listTraces };
  const form = FORMS[name];
  if (form) return { ...base, file: toFileSpec(form, server) };
  const reason = WITHOUT_FILE[name];
  if (reason !== undefined) return { ...base, unsupported: reason };
  return { ...base, instruct: (gateway) => describeServer(server, gateway) };
}

function toFileSpec(form: McpForm, server: StdioServer): ConfigFileSpec {
  const { syntax, listPaths, servers, http, notes = [] } = form;
  return {
    syntax,
    listPaths,
    plan(_, gateway) {
      const isHttp = /^https?:/.test(gateway.url);
      if (isHttp && !http) return { instructions: describeServer(server, gateway) };
      const fields = isHttp && http ? http(`${gateway.url}/mcp`, gateway.needsToken) : form.stdio(server);
      const settings = Object.entries(fields).map(
        ([field, value]): Setting => ({ path: [...servers, NAME, field], value }),
      );
      const token = "Export LONGHAUL_TOKEN in your shell before you start the agent.";
      return { settings, notes: [...notes, ...(isHttp && gateway.needsToken ? [token] : [])] };
    },
  };
}

function describeServer({ program, args }: StdioServer, { url }: GatewayAddress): string {
  return /^https?:/.test(url)
    ? `Add an MCP server of the type "streamable HTTP" with the address ${url}/mcp.`
    : `Add an MCP server with the command: ${[program, ...args].join(" ")}`;
}
