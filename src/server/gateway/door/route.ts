import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import type { WireName } from "../../../wire/wire.ts";

/** Pages of the gateway itself. */
type PageName =
  /** The dashboard: its document at every path of a page, and the files that the document loads. */
  | "dashboard"
  | "asset"
  | "healthz"
  | "readyz"
  | "metrics"
  /** The HTTP API below /api/v1, and its document. */
  | "v1"
  | "openapi";

/** The purpose of a path. For a provider's endpoint, `path` is the part after the version, such as "/messages". */
export type Route =
  | {
      readonly type: "api";
      readonly api: WireName;
      readonly action: "create" | "count" | "compact";
      readonly path: string;
      /** The model and the form of the reply, where the path names them. */
      readonly model?: string;
      readonly isStreamed?: boolean;
    }
  | { readonly type: "models"; readonly api: WireName; readonly path: string }
  /** Another endpoint of a provider, forwarded unchanged. */
  | { readonly type: "pass"; readonly api: WireName; readonly path: string }
  /** The endpoint of the Model Context Protocol. */
  | { readonly type: "mcp" }
  /** A hook that an agent calls over HTTP. */
  | { readonly type: "hooks"; readonly client: string }
  /** `rest` holds the segments after the page's own. */
  | { readonly type: "page"; readonly name: PageName; readonly rest: readonly string[] }
  /**
   * `allow` lists the methods of a path that exists for other methods only; `foreign` names an API that the gateway does not
   * speak; `api` decides the form of the error.
   */
  | {
      readonly type: "unknown";
      readonly allow?: readonly string[];
      readonly foreign?: string;
      readonly api?: WireName;
    };

const READ_METHODS = ["GET", "HEAD"];
const V1_METHODS = ["GET", "HEAD", "POST", "PATCH", "DELETE"];
const ALL_METHODS = ["GET", "HEAD", "POST", "DELETE"];

/** Endpoints that the gateway processes. */
const PROCESSED_ENDPOINTS: Readonly<
  Record<string, { api: WireName; action: "create" | "count" | "compact" }>
> = {
  "/messages": { api: "anthropic", action: "create" },
  "/messages/count_tokens": { api: "anthropic", action: "count" },
  "/chat/completions": { api: "openai-chat", action: "create" },
  "/responses": { api: "openai-responses", action: "create" },
  "/responses/compact": { api: "openai-responses", action: "compact" },
  "/responses/input_tokens": { api: "openai-responses", action: "count" },
};

const PAGES: Readonly<Record<string, { name: PageName; methods: readonly string[] }>> = {
  "/": { name: "dashboard", methods: READ_METHODS },
  "/healthz": { name: "healthz", methods: READ_METHODS },
  "/readyz": { name: "readyz", methods: READ_METHODS },
  "/metrics": { name: "metrics", methods: READ_METHODS },
  "/openapi.json": { name: "openapi", methods: READ_METHODS },
};

const MCP_PATH = "/mcp";

/** First segments of endpoints that are forwarded, with their API where only one has them. */
const PASSED_ENDPOINTS: Readonly<Record<string, WireName | undefined>> = {
  messages: "anthropic",
  complete: "anthropic",
  skills: "anthropic",
  responses: "openai-responses",
  conversations: "openai-responses",
  chat: "openai-chat",
  completions: "openai-chat",
  embeddings: "openai-chat",
  moderations: "openai-chat",
  images: "openai-chat",
  audio: "openai-chat",
  videos: "openai-chat",
  rerank: "openai-chat",
  batches: "openai-chat",
  uploads: "openai-chat",
  fine_tuning: "openai-chat",
  vector_stores: "openai-chat",
  containers: "openai-chat",
  evals: "openai-chat",
  assistants: "openai-chat",
  threads: "openai-chat",
  models: undefined,
  files: undefined,
};

/** Known APIs at the addresses of other providers. The path names the model, and belongs to the upstream of that provider. */
const ADDRESSES: readonly AddressPattern[] = [
  { api: "openai-chat", pattern: /(?<path>\/openai\/deployments\/(?<model>[^/]+)\/chat\/completions)$/ },
  { api: "openai-responses", pattern: /(?<path>\/openai\/deployments\/(?<model>[^/]+)\/responses)$/ },
  {
    api: "anthropic",
    pattern:
      /(?<path>\/projects\/[^/]+\/locations\/[^/]+\/publishers\/anthropic\/models\/(?<model>[^/:]+):(?<verb>rawPredict|streamRawPredict))$/,
    start: "/v1",
  },
  {
    api: "anthropic",
    pattern:
      /(?<path>\/model\/(?<model>[^/]+)\/(?<verb>invoke(?:-with-response-stream)?|converse(?:-stream)?|count-tokens))$/,
  },
];

interface AddressPattern {
  readonly api: WireName;
  readonly pattern: RegExp;
  /** The beginning that the provider's path has, and clients may leave out. */
  readonly start?: string;
}

/** The endpoint that counts tokens: Bedrock has it below a model, and Vertex AI in place of one. */
const COUNTING_MODEL = "count-tokens";

function findAddress(method: string, whole: string): Route | undefined {
  for (const { api, pattern, start = "" } of ADDRESSES) {
    const { path, model: name = "", verb } = pattern.exec(whole)?.groups ?? {};
    const model = path === undefined ? undefined : decodeSafely(name);
    if (path === undefined || model === undefined) continue;
    if (method !== "POST") return { type: "unknown", allow: ["POST"], api };
    const route = { type: "api", api, path: toInvokePath(`${start}${path}`) } as const;
    if (verb === COUNTING_MODEL) return { ...route, action: "count", model };
    if (model === COUNTING_MODEL) return { ...route, action: "count" };
    const isStreamed = verb === undefined || verb === "rawPredict" ? undefined : /stream/i.test(verb);
    return { ...route, action: "create", model, ...dropUndefined({ isStreamed }) };
  }
  return undefined;
}

/** For Bedrock's Converse the path of the same request in the form of Anthropic's Messages; else the path itself. */
function toInvokePath(path: string): string {
  return path.replace(/\/converse$/, "/invoke").replace(/\/converse-stream$/, "/invoke-with-response-stream");
}

/** The text of a segment; undefined for one that is not encoded correctly. */
function decodeSafely(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/** Paths of APIs that clients may be set to, and that the gateway does not speak. */
const FOREIGN_APIS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [
    /\/deployments\/[^/]+\/\w/,
    "an endpoint of Azure's deployments other than chat/completions and responses",
  ],
  [/^\/api\/(?:chat|generate|embed|show|tags|pull|ps)$/, "Ollama's own API"],
  [/^\/api\/(?:v0\/|v1\/chat$)/, "LM Studio's own API"],
];

/**
 * Google's own paths: of the Gemini API with a key, and of Vertex AI with a project. In version 1, OpenAI's models are at
 * the same address, and only the end of the path tells.
 */
const GOOGLE =
  /^(?:\/google|\/gemini)?(?<path>(?:\/upload)?\/(?:v1(?:alpha|beta\d?)(?=\/(?!openai(?:\/|$)))|v1(?=\/(?:projects|publishers)\/|\/(?:models|tunedModels)\/[^/:]+:(?:\w*enerateContent|countTokens|\w*mbedContents?)$))\/.+)$/;
/** The end of a path that asks a model of Google for something. */
const GOOGLE_MODEL = /\/(?:models|tunedModels|endpoints)\/(?<model>[^/:]+):(?<verb>\w+)$/;

const PREFIX = /^\/(anthropic|openai|api|openrouter|google|gemini|ollama|llama\.cpp)(?=\/|$)/;
/** Clients whose base URL already ends in /v1 repeat it; /v1beta/openai is Google's. */
const VERSION = /^(?:(?:\/v1(?=\/|$)){1,2}|\/v1beta\/openai(?=\/|$))/;

/**
 * Finds the route of a path. Endpoints may have or lack /v1 and may follow a provider's name; that name and `hint`
 * decide only for endpoints that several APIs share.
 */
export function findRoute(method: string, path: string, hint?: WireName): Route {
  const whole = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
  const address = findAddress(method, whole);
  if (address) return address;
  const foreign = FOREIGN_APIS.find(([pattern]) => pattern.test(whole))?.[1];
  if (foreign !== undefined) return { type: "unknown", foreign };
  return findPage(method, whole) ?? findGoogleRoute(method, whole) ?? findEndpoint(method, whole, hint);
}

/** The route of a path of Google's; other endpoints than those that generate content are forwarded unchanged. */
function findGoogleRoute(method: string, whole: string): Route | undefined {
  const path = GOOGLE.exec(whole)?.groups?.path;
  if (path === undefined) return undefined;
  const { model, verb } = GOOGLE_MODEL.exec(path)?.groups ?? {};
  if (method === "POST" && path.endsWith("/interactions"))
    return { type: "api", api: "google", action: "create", path };
  const isCounting = verb === "countTokens";
  const isGenerating = verb === "generateContent" || verb === "streamGenerateContent";
  if (model !== undefined && (isGenerating || isCounting)) {
    if (method !== "POST") return { type: "unknown", allow: ["POST"], api: "google" };
    if (isCounting) return { type: "api", api: "google", action: "count", path, model };
    const isStreamed = verb === "streamGenerateContent";
    return { type: "api", api: "google", action: "create", path, model, isStreamed };
  }
  return V1_METHODS.includes(method)
    ? { type: "pass", api: "google", path }
    : { type: "unknown", allow: V1_METHODS, api: "google" };
}

/** First segments that never belong to a page of the dashboard: APIs, pages for programs, files. */
const NOT_DASHBOARD = [
  "v1",
  "v1beta",
  "api",
  "mcp",
  "model",
  "hooks",
  "metrics",
  "healthz",
  "readyz",
  "openapi.json",
  "assets",
];

/** True for the routes of the API by which people sign in; they need no token and get no rights. */
export function isSignIn(route: Route): boolean {
  return route.type === "page" && route.name === "v1" && route.rest[0] === "sign-in";
}

/**
 * The dashboard for a path that nothing else answers, so that a link to one of its pages can be opened. Only for
 * browsers that ask for a document: a program with a wrong address must get an error.
 */
export function findDashboardRoute(method: string, path: string, accepts: string): Route | undefined {
  const [, segment = "", ...rest] = path.split("/");
  if (!READ_METHODS.includes(method) || !/\btext\/html\b/.test(accepts)) return undefined;
  if (NOT_DASHBOARD.includes(segment) || PREFIX.test(path)) return undefined;
  return { type: "page", name: "dashboard", rest: [segment, ...rest] };
}

function findPage(method: string, path: string): Route | undefined {
  if (path === MCP_PATH)
    return ALL_METHODS.includes(method) ? { type: "mcp" } : { type: "unknown", allow: ALL_METHODS };
  const page = Object.hasOwn(PAGES, path) ? PAGES[path] : undefined;
  if (page) {
    if (!page.methods.includes(method)) return { type: "unknown", allow: page.methods };
    return { type: "page", name: page.name, rest: [] };
  }
  const [, api, segment, ...rest] = path.split("/");
  if (api === "hooks" && segment !== undefined && rest.length === 0)
    return method === "POST" ? { type: "hooks", client: segment } : { type: "unknown", allow: ["POST"] };
  if (api === "assets" && segment !== undefined)
    return READ_METHODS.includes(method)
      ? { type: "page", name: "asset", rest: [segment, ...rest] }
      : { type: "unknown", allow: READ_METHODS };
  if (api === "api" && segment === "v1" && isOwnEndpoint(rest[0]))
    return V1_METHODS.includes(method)
      ? { type: "page", name: "v1", rest }
      : { type: "unknown", allow: V1_METHODS };
  return undefined;
}

/** True for our own API: some providers have theirs below /api/v1 too, with names that we do not use. */
function isOwnEndpoint(name: string | undefined): boolean {
  return name === undefined || !Object.hasOwn(PASSED_ENDPOINTS, name);
}

function findEndpoint(method: string, path: string, hint: WireName | undefined): Route {
  const prefix = PREFIX.exec(path);
  const inside = prefix ? path.slice(prefix[0].length) : path;
  const rest = inside.replace(VERSION, "");
  const created = Object.hasOwn(PROCESSED_ENDPOINTS, rest) ? PROCESSED_ENDPOINTS[rest] : undefined;
  if (created && method === "POST") return { type: "api", ...created, path: rest };
  const segment = rest.split("/")[1] ?? "";
  if (!Object.hasOwn(PASSED_ENDPOINTS, segment))
    return /^(?:anthropic|google|gemini)$/.test(prefix?.[1] ?? "")
      ? { type: "unknown", api: getPrefixApi(prefix?.[1]) }
      : { type: "unknown" };
  if (created && !(method === "GET" && rest === "/chat/completions"))
    return { type: "unknown", allow: ["POST"], api: created.api };
  const api = PASSED_ENDPOINTS[segment] ?? (prefix ? getPrefixApi(prefix[1]) : hint) ?? "openai-chat";
  if (rest === "/models")
    return READ_METHODS.includes(method)
      ? { type: "models", api, path: rest }
      : { type: "unknown", allow: READ_METHODS };
  return ALL_METHODS.includes(method)
    ? { type: "pass", api, path: rest }
    : { type: "unknown", allow: ALL_METHODS };
}

function getPrefixApi(prefix: string | undefined): WireName {
  if (prefix === "anthropic") return prefix;
  return prefix === "google" || prefix === "gemini" ? "google" : "openai-chat";
}
