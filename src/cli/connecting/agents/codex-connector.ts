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
          { path: table("name"), value: PROVIDER },
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
