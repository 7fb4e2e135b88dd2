import { join } from "node:path";
import { jsonSyntax } from "../syntax/json-syntax.ts";
import {
  type AgentConnector,
  describeReplacedUrl,
  TOKEN_HEADER,
  toVersionedUrl,
  type UserPlace,
} from "./agent-connector.ts";

function getFolder({ env, home }: UserPlace): string {
  return env.PI_CODING_AGENT_DIR || join(home, ".pi", "agent");
}

/** pi moves its own providers to another address if its models file names one. */
export const piConnector: AgentConnector = {
  name: "pi",
  title: "pi",
  programs: ["pi"],
  listTraces: (place) => [getFolder(place)],
  listFeatureChanges: () => [
    {
      feature: "models of OpenAI on Chat Completions get no prompt_cache_key (those on Responses do)",
      remedy: "set PI_CACHE_RETENTION=long in your shell",
    },
  ],
  file: {
    syntax: jsonSyntax,
    listPaths: (place) => [join(getFolder(place), "models.json")],
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
