import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import type { GatewayConfig, UpstreamConfig } from "./config.ts";
import type { Environment } from "./config-flags.ts";

/** A well-known provider that needs only its key or its address to be configured. */
interface WellKnownUpstream extends Omit<UpstreamConfig, "keyEnv"> {
  /** Environment variables that may hold its key; the first one set is used. */
  readonly keys: readonly string[];
  /** The variable that holds its address, for servers without a fixed address. */
  readonly addressEnv?: string;
  /** Available without a key, because the client's own key is forwarded. */
  readonly isDefault?: true;
}

/** The back-end that serves Codex with a ChatGPT login; requests with such a login are sent there. */
export const CHATGPT = "chatgpt";

/** Vertex AI; requests whose path names a project are sent there, each to the region that it names. */
export const VERTEX = "vertex";

/** The APIs that servers of other providers copy. */
export const OPEN_APIS = ["anthropic", "openai-chat", "openai-responses"] as const;

/** Providers that are known by name. */
export const WELL_KNOWN_UPSTREAMS: readonly WellKnownUpstream[] = [
  {
    name: "anthropic",
    baseUrl: "https://api.anthropic.com",
    apis: ["anthropic"],
    keys: ["ANTHROPIC_API_KEY"],
    isDefault: true,
  },
  {
    name: "openai",
    baseUrl: "https://api.openai.com",
    apis: ["openai-chat", "openai-responses"],
    keys: ["OPENAI_API_KEY"],
    isDefault: true,
  },
  {
    name: CHATGPT,
    baseUrl: "https://chatgpt.com/backend-api/codex",
    apis: ["openai-responses"],
    prefix: "chatgpt/",
    keys: [],
    isDefault: true,
  },
  {
    name: "gemini",
    baseUrl: "https://generativelanguage.googleapis.com",
    apis: ["google"],
    keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    isDefault: true,
  },
  {
    name: VERTEX,
    baseUrl: "https://aiplatform.googleapis.com",
    apis: ["google"],
    prefix: "vertex/",
    keys: [],
    isDefault: true,
  },
  {
    name: "google",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai",
    apis: ["openai-chat"],
    prefix: "google/",
    models: ["gemini*"],
    keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
  },
  {
    name: "openrouter",
    baseUrl: "https://openrouter.ai/api/v1",
    apis: OPEN_APIS,
    prefix: "openrouter/",
    keys: ["OPENROUTER_API_KEY"],
  },
  {
    name: "ollama",
    baseUrl: "http://127.0.0.1:11434",
    apis: OPEN_APIS,
    prefix: "ollama/",
    keys: ["OLLAMA_API_KEY"],
    addressEnv: "OLLAMA_HOST",
  },
  {
    name: "llama.cpp",
    baseUrl: "http://127.0.0.1:8080",
    apis: OPEN_APIS,
    prefix: "llama.cpp/",
    keys: ["LLAMA_API_KEY"],
    addressEnv: "LLAMA_CPP_URL",
  },
];

/** The default upstreams, as the environment defines them. */
export function listDefaultUpstreams(env: Environment): readonly UpstreamConfig[] {
  return WELL_KNOWN_UPSTREAMS.filter(
    ({ isDefault: isAlways, addressEnv, keys }) =>
      isAlways || (addressEnv === undefined ? keys.some((key) => env[key]) : env[addressEnv]),
  ).map((usual) => configureUpstream(usual, env));
}

/** One of the well-known upstreams, configured from the environment. */
export function configureUpstream(usual: WellKnownUpstream, env: Environment): UpstreamConfig {
  const { keys, addressEnv, isDefault: _, ...upstream } = usual;
  const given = addressEnv === undefined ? undefined : env[addressEnv];
  const keyEnv = keys.find((key) => env[key]) ?? keys[0];
  return {
    ...upstream,
    ...(given && { baseUrl: toReachableUrl(given, upstream.baseUrl) }),
    ...dropUndefined({ keyEnv }),
  };
}

/** Converts the address that a server listens on, such as "0.0.0.0" or "box:11434", to a URL that can be called. */
function toReachableUrl(given: string, usual: string): string {
  const text = /^[a-z]+:\/\//i.test(given) ? given : `http://${given}`;
  if (!URL.canParse(text)) return given;
  const url = new URL(text);
  if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = "127.0.0.1";
  const hasPort = url.port !== "" || /:(80|443)\b/.test(given) || url.protocol === "https:";
  if (!hasPort) url.port = new URL(usual).port;
  return url.href.replace(/\/$/, "");
}

/** True if Messages requests for models that no upstream lists reach Anthropic itself. */
export function isAnthropicReached(
  upstreams: readonly Pick<UpstreamConfig, "baseUrl" | "apis" | "prefix" | "models">[],
): boolean {
  const speaking = upstreams.filter(({ apis }) => apis.includes("anthropic"));
  const chosen = speaking.find(({ prefix, models }) => !prefix && !models) ?? speaking[0];
  return chosen !== undefined && isAnthropicHost(chosen.baseUrl);
}

/** True for the address of Anthropic's own API. */
export function isAnthropicHost(baseUrl: string): boolean {
  return URL.canParse(baseUrl) && new URL(baseUrl).hostname === "api.anthropic.com";
}

/** Well-known upstreams that become available by setting a variable. */
export function findMissingUpstreams(
  { upstreams }: GatewayConfig,
  env: Environment,
): readonly { readonly name: string; readonly variable: string }[] {
  const names = new Set(upstreams.map(({ name }) => name));
  return WELL_KNOWN_UPSTREAMS.flatMap(({ name, keys, addressEnv }) => {
    const variable = addressEnv ?? keys[0];
    if (variable === undefined) return [];
    const isKnown = names.has(name) && (addressEnv !== undefined || keys.some((key) => env[key]));
    return isKnown ? [] : [{ name, variable }];
  });
}
