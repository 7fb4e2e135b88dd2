import { existsSync } from "node:fs";
import { join } from "node:path";
import type { GatewayAddress } from "../../../server/gateway/index.ts";
import { readAgentFile } from "../agent-file.ts";
import { jsonSyntax } from "../syntax/json-syntax.ts";
import { tomlSyntax } from "../syntax/toml-syntax.ts";
import { yamlModelsSyntax } from "../syntax/yaml-models-syntax.ts";
import {
  type AgentConnector,
  type ConfigReader,
  describeReplacedUrl,
  type FeatureChange,
  type Setting,
  TOKEN_HEADER,
  toVersionedUrl,
  type UserPlace,
} from "./agent-connector.ts";

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
const MANUAL_CONNECTORS: readonly AgentConnector[] = [
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

/** Features that Claude Code uses only with Anthropic's API. It trusts the setting that says an address is that API. */
const BOUND_TO_ANTHROPIC: readonly FeatureChange[] = [
  "the cache scope of the system prompt (beta prompt-caching-scope)",
  "controls of thinking (beta thinking-binding-controls)",
  "causes of cache misses (beta cache-diagnosis, field diagnostics)",
  "settings that an organization manages",
  "tool search for MCP tools, unless ENABLE_TOOL_SEARCH is set",
].map((feature) => ({ feature: `it does not use ${feature}`, remedy: NOT_ANTHROPIC }));

const URL_PATH = ["env", "ANTHROPIC_BASE_URL"];
const CLOUDS = ["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"];

function getClaudeFolder({ env, home }: UserPlace): string {
  return env.CLAUDE_CONFIG_DIR || join(home, ".claude");
}

/** Claude Code reads variables from `env` in its user settings. */
export const claudeCodeConnector: AgentConnector = {
  name: "claude-code",
  title: "Claude Code",
  programs: ["claude"],
  listTraces: (place) => [getClaudeFolder(place), join(place.home, ".claude.json")],
  listFeatureChanges: (text) =>
    text.includes(FIRST_PARTY) ? BOUND_TO_ADDRESS : [...BOUND_TO_ANTHROPIC, ...BOUND_TO_ADDRESS],
  file: {
    syntax: jsonSyntax,
    listPaths: (place) => [join(getClaudeFolder(place), "settings.json")],
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

const PROVIDER = "longhaul";
/** Codex decides by this name, not by the address, whether it compacts, searches and compresses as with OpenAI. */
const OPENAI_NAME = "OpenAI";

function getCodexFolder({ env, home }: UserPlace): string {
  return env.CODEX_HOME || join(home, ".codex");
}

/**
 * Codex keeps its own provider, and with it its login and its list of conversations, at another address. A token needs
 * a header, which only a separate provider can send.
 */
const codexConnector: AgentConnector = {
  name: "codex",
  title: "Codex",
  programs: ["codex"],
  listTraces: (place) => [getCodexFolder(place)],
  listFeatureChanges: () => [
    {
      feature: "replies come over HTTP instead of a WebSocket",
      remedy: "none needed: Codex falls back by itself at the first request",
    },
    {
      feature: "the model menu warns that the address is another",
      remedy: "none needed: models are chosen as before",
    },
    {
      feature: "voice conversations would go to the gateway, which does not serve them",
      remedy: 'set experimental_realtime_ws_base_url = "https://api.openai.com/v1" in config.toml',
    },
  ],
  file: {
    syntax: tomlSyntax,
    listPaths: (place) => [join(getCodexFolder(place), "config.toml")],
    plan(reader, gateway) {
      const url = toVersionedUrl(gateway);
      const provider = reader.findString(["model_provider"]);
      if (provider !== undefined && provider !== "openai" && provider !== PROVIDER) {
        const address = reader.findString(["model_providers", provider, "base_url"]) ?? "its address";
        return {
          instructions: `Codex uses the provider "${provider}" (${address}). To put the gateway in between, start it with --upstream ${provider}=${address} and set base_url = "${url}" in [model_providers.${provider}].`,
        };
      }
      if (!gateway.needsToken && provider !== PROVIDER)
        return {
          settings: [{ path: ["openai_base_url"], value: url }],
          notes: describeReplacedUrl(reader.findString(["openai_base_url"]), "openai", gateway),
        };
      const table = (name: string) => ["model_providers", PROVIDER, name];
      return {
        settings: [
          { path: ["model_provider"], value: PROVIDER },
          { path: table("name"), value: OPENAI_NAME },
          { path: table("base_url"), value: url },
          { path: table("wire_api"), value: "responses" },
          { path: table("requires_openai_auth"), value: true },
          ...(gateway.needsToken
            ? [{ path: table("env_http_headers"), value: { [TOKEN_HEADER]: "LONGHAUL_TOKEN" } }]
            : []),
        ],
        notes: gateway.needsToken
          ? ["The gateway requires a token: export LONGHAUL_TOKEN in your shell before you start Codex."]
          : [],
      };
    },
  },
};

const OPENCODE_PROVIDERS = { anthropic: "ANTHROPIC_API_KEY", openai: "OPENAI_API_KEY" } as const;

function getOpencodeFolder({ env, home }: UserPlace): string {
  return join(env.XDG_CONFIG_HOME || join(home, ".config"), "opencode");
}

function getDataFolder({ env, home }: UserPlace): string {
  return join(env.XDG_DATA_HOME || join(home, ".local", "share"), "opencode");
}

/** opencode reads one of several files; a provider in it counts as configured, so only used ones are written. */
const opencodeConnector: AgentConnector = {
  name: "opencode",
  title: "opencode",
  programs: ["opencode"],
  listTraces: (place) => [getOpencodeFolder(place), getDataFolder(place)],
  file: {
    syntax: jsonSyntax,
    listPaths: (place) =>
      ["opencode.json", "opencode.jsonc", "config.json"].map((name) => join(getOpencodeFolder(place), name)),
    plan(reader, gateway, place) {
      const names = Object.keys(OPENCODE_PROVIDERS) as (keyof typeof OPENCODE_PROVIDERS)[];
      const models = ["model", "small_model"].map((name) => reader.findString([name]) ?? "");
      const logins = readLogins(place);
      const used = names.filter(
        (name) =>
          reader.has(["provider", name]) ||
          models.some((model) => model.startsWith(`${name}/`)) ||
          logins.includes(name) ||
          Boolean(place.env[OPENCODE_PROVIDERS[name]]),
      );
      const chosen = used.length > 0 ? used : names;
      const options = (name: string) => ["provider", name, "options"];
      return {
        settings: chosen.flatMap((name) => [
          { path: [...options(name), "baseURL"], value: toVersionedUrl(gateway) },
          ...(gateway.needsToken
            ? [{ path: [...options(name), "headers", TOKEN_HEADER], value: "{env:LONGHAUL_TOKEN}" }]
            : []),
        ]),
        notes: chosen.flatMap((name) =>
          describeReplacedUrl(reader.findString([...options(name), "baseURL"]), name, gateway),
        ),
      };
    },
  },
};

/** Providers with a stored login. */
function readLogins(place: UserPlace): readonly string[] {
  const path = join(getDataFolder(place), "auth.json");
  try {
    return existsSync(path) ? Object.keys(JSON.parse(readAgentFile(path).text) as object) : [];
  } catch {
    return [];
  }
}

function getPiFolder({ env, home }: UserPlace): string {
  return env.PI_CODING_AGENT_DIR || join(home, ".pi", "agent");
}

/** pi moves its own providers to another address if its models file names one. */
const piConnector: AgentConnector = {
  name: "pi",
  title: "pi",
  programs: ["pi"],
  listTraces: (place) => [getPiFolder(place)],
  listFeatureChanges: () => [
    {
      feature: "models of OpenAI on Chat Completions get no prompt_cache_key (those on Responses do)",
      remedy: "set PI_CACHE_RETENTION=long in your shell",
    },
  ],
  file: {
    syntax: jsonSyntax,
    listPaths: (place) => [join(getPiFolder(place), "models.json")],
    plan(reader, gateway) {
      const targets = [
        { name: "anthropic", url: gateway.url },
        { name: "openai", url: toVersionedUrl(gateway) },
      ] as const;
      return {
        settings: targets.flatMap(({ name, url }) => [
          { path: ["providers", name, "baseUrl"], value: url },
          ...(gateway.needsToken
            ? [{ path: ["providers", name, "headers", TOKEN_HEADER], value: "LONGHAUL_TOKEN" }]
            : []),
        ]),
        notes: targets.flatMap(({ name }) =>
          describeReplacedUrl(reader.findString(["providers", name, "baseUrl"]), name, gateway),
        ),
      };
    },
  },
};

function getClineFolder({ env, home }: UserPlace): string {
  return env.CLINE_DIR || join(home, ".cline");
}

/** The steps in Cline's settings dialog. */
function describeClineDialog(gateway: GatewayAddress): string {
  const token = gateway.needsToken ? `, with the custom header ${TOKEN_HEADER}` : "";
  return `In Cline's settings choose API Provider "Anthropic", tick "Use custom base URL" and enter ${gateway.url}; or choose "OpenAI Compatible" and enter ${toVersionedUrl(gateway)} as Base URL${token}.`;
}

/** Cline's command line keeps its settings in a file; the editor extension keeps them in the editor's database. */
const clineConnector: AgentConnector = {
  name: "cline",
  title: "Cline",
  programs: ["cline"],
  listTraces: (place) => [join(getClineFolder(place), "data")],
  file: {
    syntax: jsonSyntax,
    listPaths: (place) => [join(getClineFolder(place), "data", "globalState.json")],
    plan(reader, gateway) {
      const providers = new Set(
        ["actModeApiProvider", "planModeApiProvider"].map((name) => reader.findString([name])),
      );
      const settings = [
        ...(providers.has("anthropic") ? [{ path: ["anthropicBaseUrl"], value: gateway.url }] : []),
        ...(providers.has("openai") ? [{ path: ["openAiBaseUrl"], value: toVersionedUrl(gateway) }] : []),
      ];
      if (settings.length === 0 || gateway.needsToken) return { instructions: describeClineDialog(gateway) };
      return {
        settings,
        notes: [
          "Cline writes this file while it runs: close it first.",
          ...describeReplacedUrl(reader.findString(["anthropicBaseUrl"]), "anthropic", gateway),
          ...describeReplacedUrl(
            providers.has("openai") ? reader.findString(["openAiBaseUrl"]) : undefined,
            "openai",
            gateway,
          ),
        ],
      };
    },
  },
};

type Provider = "anthropic" | "openai";

function getContinueFolder({ env, home }: UserPlace): string {
  return env.CONTINUE_GLOBAL_DIR || join(home, ".continue");
}

/** Continue names an address in each model. */
const continueConnector: AgentConnector = {
  name: "continue",
  title: "Continue",
  programs: ["cn"],
  listTraces: (place) => [getContinueFolder(place)],
  file: {
    syntax: yamlModelsSyntax,
    listPaths: (place) => [join(getContinueFolder(place), "config.yaml")],
    plan(reader, gateway) {
      const url = toVersionedUrl(gateway);
      const models = findServedModels(reader, gateway.url);
      if (models.length === 0 || gateway.needsToken)
        return {
          instructions: `In ${"config.yaml"}, add "apiBase: ${url}" to each model with the provider anthropic or openai${
            gateway.needsToken
              ? `, and a header under requestOptions: headers: ${TOKEN_HEADER}: \${{ secrets.LONGHAUL_TOKEN }}`
              : ""
          }.`,
        };
      return {
        settings: models.map(({ name }) => ({ path: ["models", name, "apiBase"], value: url })),
        notes: models.flatMap(({ name, provider }) =>
          describeReplacedUrl(reader.findString(["models", name, "apiBase"]), provider, gateway),
        ),
      };
    },
  },
};

/** Models whose provider has its own upstream; one at another address belongs to another provider. */
function findServedModels(
  reader: ConfigReader,
  gatewayUrl: string,
): readonly { readonly name: string; readonly provider: Provider }[] {
  return reader.listNames(["models"]).flatMap((name) => {
    const provider = reader.findString(["models", name, "provider"]);
    if (provider !== "anthropic" && provider !== "openai") return [];
    const base = reader.findString(["models", name, "apiBase"]);
    const isOwn = base === undefined || base.startsWith(gatewayUrl) || base.includes(`api.${provider}.com`);
    return isOwn ? [{ name, provider }] : [];
  });
}

const OPENCLAW_PROVIDERS = [
  { name: "anthropic", api: "anthropic-messages" },
  { name: "openai", api: "openai-responses" },
] as const;

function getOpenclawFolder({ env, home }: UserPlace): string {
  return env.OPENCLAW_STATE_DIR || join(home, ".openclaw");
}

/** OpenClaw requires a list of models for a provider with an address, so only the models in use are listed. */
const openclawConnector: AgentConnector = {
  name: "openclaw",
  title: "OpenClaw",
  programs: ["openclaw"],
  listTraces: (place) => [getOpenclawFolder(place)],
  file: {
    syntax: jsonSyntax,
    listPaths: (place) => [place.env.OPENCLAW_CONFIG_PATH || join(getOpenclawFolder(place), "openclaw.json")],
    plan(reader, gateway) {
      const settings = OPENCLAW_PROVIDERS.flatMap(({ name, api }) =>
        planProvider(reader, gateway, name, api),
      );
      if (settings.length === 0)
        return {
          instructions: `openclaw.json names no model of Anthropic or OpenAI. Choose one first (openclaw configure), then run "longhaul connect openclaw" again.`,
        };
      return {
        settings,
        notes: [
          ...OPENCLAW_PROVIDERS.flatMap(({ name }) =>
            describeReplacedUrl(reader.findString(["models", "providers", name, "baseUrl"]), name, gateway),
          ),
          "Restart OpenClaw's own service to apply it.",
        ],
      };
    },
  },
};

function planProvider(
  reader: ConfigReader,
  gateway: GatewayAddress,
  name: "anthropic" | "openai",
  api: string,
): readonly Setting[] {
  const provider = ["models", "providers", name];
  const url = name === "anthropic" ? gateway.url : toVersionedUrl(gateway);
  const models = findModels(reader, name);
  const isConfigured = reader.has([...provider, "models"]);
  if (!isConfigured && models.length === 0) return [];
  return [
    { path: [...provider, "baseUrl"], value: url },
    ...(isConfigured
      ? []
      : [
          { path: [...provider, "api"], value: api },
          { path: [...provider, "models"], value: models.map((id) => ({ id, name: id })) },
        ]),
    ...(gateway.needsToken
      ? // biome-ignore lint/suspicious/noTemplateCurlyInString: OpenClaw's own way to name a variable
        [{ path: [...provider, "headers", TOKEN_HEADER], value: "${LONGHAUL_TOKEN}" }]
      : []),
  ];
}

/** Ids of a provider's models that the agents use. */
function findModels(reader: ConfigReader, provider: string): readonly string[] {
  const defaults = ["agents", "defaults"];
  const named = [
    reader.findString([...defaults, "model"]),
    reader.findString([...defaults, "model", "primary"]),
    ...reader.listNames([...defaults, "models"]),
  ];
  const own = named.filter((name) => name?.startsWith(`${provider}/`)) as string[];
  return [...new Set(own.map((name) => name.slice(provider.length + 1)))];
}

/** All agents that longhaul knows, in the order of its output. */
export const CONNECTORS: readonly AgentConnector[] = [
  claudeCodeConnector,
  codexConnector,
  opencodeConnector,
  piConnector,
  clineConnector,
  continueConnector,
  openclawConnector,
  ...MANUAL_CONNECTORS,
];
