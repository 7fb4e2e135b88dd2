import { join } from "node:path";
import type { GatewayAddress } from "../../../server/gateway/index.ts";
import { jsonSyntax } from "../syntax/json-syntax.ts";
import {
  type AgentConnector,
  type ConfigReader,
  describeReplacedUrl,
  type Setting,
  TOKEN_HEADER,
  toVersionedUrl,
  type UserPlace,
} from "./agent-connector.ts";

const PROVIDERS = [
  { name: "anthropic", api: "anthropic-messages" },
  { name: "openai", api: "openai-responses" },
] as const;

function getFolder({ env, home }: UserPlace): string {
  return env.OPENCLAW_STATE_DIR || join(home, ".openclaw");
}

/** OpenClaw requires a list of models for a provider with an address, so only the models in use are listed. */
export const openclawConnector: AgentConnector = {
  name: "openclaw",
  title: "OpenClaw",
  programs: ["openclaw"],
  listTraces: (place) => [getFolder(place)],
  file: {
    syntax: jsonSyntax,
    listPaths: (place) => [place.env.OPENCLAW_CONFIG_PATH || join(getFolder(place), "openclaw.json")],
    plan(reader, gateway) {
      const settings = PROVIDERS.flatMap(({ name, api }) => planProvider(reader, gateway, name, api));
      if (settings.length === 0)
        return {
          instructions: `openclaw.json names no model of Anthropic or OpenAI. Choose one first (openclaw configure), then run "longhaul connect openclaw" again.`,
        };
      return {
        settings,
        notes: [
          ...PROVIDERS.flatMap(({ name }) =>
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
