import { join } from "node:path";
import { yamlModelsSyntax } from "../syntax/yaml-models-syntax.ts";
import {
  type AgentConnector,
  type ConfigReader,
  describeReplacedUrl,
  TOKEN_HEADER,
  toVersionedUrl,
  type UserPlace,
} from "./agent-connector.ts";

type Provider = "anthropic" | "openai";

function getFolder({ env, home }: UserPlace): string {
  return env.CONTINUE_GLOBAL_DIR || join(home, ".continue");
}

/** Continue names an address in each model. */
export const continueConnector: AgentConnector = {
  name: "continue",
  title: "Continue",
  programs: ["cn"],
  listTraces: (place) => [getFolder(place)],
  file: {
    syntax: yamlModelsSyntax,
    listPaths: (place) => [join(getFolder(place), "config.yaml")],
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

/** Models whose provider has an upstream of its own; one at another address belongs to another provider. */
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
