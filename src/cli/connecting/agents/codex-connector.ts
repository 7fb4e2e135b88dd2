import { join } from "node:path";
import { tomlSyntax } from "../syntax/toml-syntax.ts";
import {
  type AgentConnector,
  describeReplacedUrl,
  TOKEN_HEADER,
  toVersionedUrl,
  type UserPlace,
} from "./agent-connector.ts";

const PROVIDER = "longhaul";
/** Codex decides by this name, not by the address, whether it compacts, searches and compresses as with OpenAI. */
const OPENAI_NAME = "OpenAI";

function getFolder({ env, home }: UserPlace): string {
  return env.CODEX_HOME || join(home, ".codex");
}

/**
 * Codex keeps its own provider, and with it its login and its list of conversations, at another address. A token needs
 * a header, which only a separate provider can send.
 */
export const codexConnector: AgentConnector = {
  name: "codex",
  title: "Codex",
  programs: ["codex"],
  listTraces: (place) => [getFolder(place)],
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
    listPaths: (place) => [join(getFolder(place), "config.toml")],
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
