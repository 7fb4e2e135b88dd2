import { join } from "node:path";
import type { GatewayAddress } from "../../../server/gateway/index.ts";
import { jsonSyntax } from "../syntax/json-syntax.ts";
import {
  type AgentConnector,
  describeReplacedUrl,
  TOKEN_HEADER,
  toVersionedUrl,
  type UserPlace,
} from "./agent-connector.ts";

function getFolder({ env, home }: UserPlace): string {
  return env.CLINE_DIR || join(home, ".cline");
}

/** The steps in Cline's settings dialog. */
export function describeClineDialog(gateway: GatewayAddress): string {
  const token = gateway.needsToken ? `, with the custom header ${TOKEN_HEADER}` : "";
  return `In Cline's settings choose API Provider "Anthropic", tick "Use custom base URL" and enter ${gateway.url}; or choose "OpenAI Compatible" and enter ${toVersionedUrl(gateway)} as Base URL${token}.`;
}

/** Cline's command line keeps its settings in a file; the editor extension keeps them in the editor's database. */
export const clineConnector: AgentConnector = {
  name: "cline",
  title: "Cline",
  programs: ["cline"],
  listTraces: (place) => [join(getFolder(place), "data")],
  file: {
    syntax: jsonSyntax,
    listPaths: (place) => [join(getFolder(place), "data", "globalState.json")],
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
