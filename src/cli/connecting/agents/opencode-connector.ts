import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { jsonSyntax } from "../syntax/json-syntax.ts";
import {
  type AgentConnector,
  describeReplacedUrl,
  TOKEN_HEADER,
  toVersionedUrl,
  type UserPlace,
} from "./agent-connector.ts";

const PROVIDERS = { anthropic: "ANTHROPIC_API_KEY", openai: "OPENAI_API_KEY" } as const;

function getFolder({ env, home }: UserPlace): string {
  return join(env.XDG_CONFIG_HOME || join(home, ".config"), "opencode");
}

function getDataFolder({ env, home }: UserPlace): string {
  return join(env.XDG_DATA_HOME || join(home, ".local", "share"), "opencode");
}

/** opencode reads one of several files; a provider in it counts as configured, so only used ones are written. */
export const opencodeConnector: AgentConnector = {
  name: "opencode",
  title: "opencode",
  programs: ["opencode"],
  listTraces: (place) => [getFolder(place), getDataFolder(place)],
  file: {
    syntax: jsonSyntax,
    listPaths: (place) =>
      ["opencode.json", "opencode.jsonc", "config.json"].map((name) => join(getFolder(place), name)),
    plan(reader, gateway, place) {
      const names = Object.keys(PROVIDERS) as (keyof typeof PROVIDERS)[];
      const models = ["model", "small_model"].map((name) => reader.findString([name]) ?? "");
      const logins = readLogins(place);
      const used = names.filter(
        (name) =>
          reader.has(["provider", name]) ||
          models.some((model) => model.startsWith(`${name}/`)) ||
          logins.includes(name) ||
          Boolean(place.env[PROVIDERS[name]]),
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
    return existsSync(path) ? Object.keys(JSON.parse(readFileSync(path, "utf8")) as object) : [];
  } catch {
    return [];
  }
}
