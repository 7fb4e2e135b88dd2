import { unescape as decodeSegment } from "node:querystring";
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
  /** Another endpoint of a provider, forwarded unchanged; `model` is the one that the path names. */
  | { readonly type: "pass"; readonly api: WireName; readonly path: string; readonly model?: string }
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

const PAGES: Readonly<Record<string, PageName>> = {
  "/": "dashboard",
  "/healthz": "healthz",
  "/readyz": "readyz",
  "/metrics": "metrics",
  "/openapi.json": "openapi",
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

/**
 * Anthropic's API at the addresses of other providers. The path names the model, and belongs to the upstream of that
 * provider; clients may leave out its `start`.
 */
const ADDRESSES: readonly { readonly pattern: RegExp; readonly start?: string }[] = [
  {
    pattern:
      /(?<path>\/projects\/[^/]+\/locations\/[^/]+\/publishers\/anthropic\/models\/(?<model>[^/:]+):(?<verb>rawPredict|streamRawPredict))$/,
    start: "/v1",
  },
  {
    pattern:
      /(?<path>\/model\/(?<model>[^/]+)\/(?<verb>invoke(?:-with-response-stream)?|converse(?:-stream)?|count-tokens))$/,
  },
];

/** An endpoint of Azure that has the date of a version in its query, instead of a version in its path. */
const DATED_AZURE = /^\/openai\/(?!v\d)[^?]*\?(?:.*&)?api-version=/;
const AZURE_DEPLOYMENT = /(?<path>\/openai\/deployments\/(?<model>[^/]+)(?<rest>\/.+))$/;

/** The endpoint that counts tokens: Bedrock has it below a model, and Vertex AI in place of one. */
const COUNTING_MODEL = "count-tokens";

function findAddress(method: string, whole: string): Route | undefined {
  const api = "anthropic";
  for (const { pattern, start = "" } of ADDRESSES) {
    const { path, model: name = "", verb = "" } = pattern.exec(whole)?.groups ?? {};
    if (path === undefined) continue;
    const model = decodeSegment(name);
    if (method !== "POST") return { type: "unknown", allow: ["POST"], api };
    // Converse is sent as the same request in the form of Anthropic's Messages.
    const sent = path
      .replace(/\/converse$/, "/invoke")
      .replace(/\/converse(?=-stream$)/, "/invoke-with-response");
    const route = { type: "api", api, path: `${start}${sent}` } as const;
    if (verb === COUNTING_MODEL) return { ...route, action: "count", model };
    if (model === COUNTING_MODEL) return { ...route, action: "count" };
    const isStreamed = verb === "rawPredict" ? undefined : /stream/i.test(verb);
    return { ...route, action: "create", model, ...dropUndefined({ isStreamed }) };
  }
  return undefined;
}

/** Paths of APIs that clients may be set to, and that the gateway does not speak. */
const FOREIGN_APIS: readonly (readonly [pattern: RegExp, name: string])[] = [
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

const PREFIX_APIS: { readonly [prefix: string]: WireName } = {
  anthropic: "anthropic",
  google: "google",
  gemini: "google",
};
const PREFIX = /^\/(anthropic|openai|api|openrouter|google|gemini|ollama|llama\.cpp)(?=\/|$)/;
/** Clients whose base URL already ends in /v1 repeat it; /v1beta/openai is Google's. */
const VERSION = /^(?:(?:\/v1(?=\/|$)){1,2}|\/v1beta\/openai(?=\/|$))/;

/**
 * Finds the route of a path. Endpoints may have or lack /v1 and may follow a provider's name; that name and `hint`
 * decide only for endpoints that several APIs share.
 */
export function findRoute(method: string, path: string, hint?: WireName, query = ""): Route {
  const whole = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
  const address = findAddress(method, whole);
  if (address) return address;
  const azure = findAzureRoute(method, whole, query);
  if (azure) return azure;
  const foreign = FOREIGN_APIS.find(([pattern]) => pattern.test(whole))?.[1];
  if (foreign !== undefined) return { type: "unknown", foreign };
  return findPage(method, whole) ?? findGoogleRoute(method, whole) ?? findEndpoint(method, whole, hint);
}

/** The route of an address that only Azure has; its whole path belongs to an upstream of Azure. */
function findAzureRoute(method: string, whole: string, query: string): Route | undefined {
  const { model: name, rest, path: deployed } = AZURE_DEPLOYMENT.exec(whole)?.groups ?? {};
  if (rest === undefined && !DATED_AZURE.test(`${whole}${query}`)) return undefined;
  const route = findEndpoint(rest === undefined ? method : "POST", rest ?? whole, undefined);
  if (!("path" in route)) return route;
  if (rest !== undefined && method !== "POST") return { type: "unknown", allow: ["POST"], api: route.api };
  const path = deployed ?? `/openai${route.path}`;
  const named = name === undefined ? { path } : { path, model: decodeSegment(name) };
  return route.type === "api" ? { ...route, ...named } : { type: "pass", api: route.api, ...named };
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
  if (page)
    return READ_METHODS.includes(method)
      ? { type: "page", name: page, rest: [] }
      : { type: "unknown", allow: READ_METHODS };
  const [, api, segment, ...rest] = path.split("/");
  if (api === "hooks" && segment !== undefined && rest.length === 0)
    return method === "POST" ? { type: "hooks", client: segment } : { type: "unknown", allow: ["POST"] };
  if (api === "assets" && segment !== undefined)
    return READ_METHODS.includes(method)
      ? { type: "page", name: "asset", rest: [segment, ...rest] }
      : { type: "unknown", allow: READ_METHODS };
  // Some providers have their API below /api/v1 too, with names that we do not use.
  if (api === "api" && segment === "v1" && !Object.hasOwn(PASSED_ENDPOINTS, rest[0] ?? ""))
    return V1_METHODS.includes(method)
      ? { type: "page", name: "v1", rest }
      : { type: "unknown", allow: V1_METHODS };
  return undefined;
}

function findEndpoint(method: string, path: string, hint: WireName | undefined): Route {
  const prefix = PREFIX.exec(path)?.[1];
  const prefixApi = PREFIX_APIS[prefix ?? ""];
  const rest = path.replace(PREFIX, "").replace(VERSION, "");
  const created = Object.hasOwn(PROCESSED_ENDPOINTS, rest) ? PROCESSED_ENDPOINTS[rest] : undefined;
  if (created && method === "POST") return { type: "api", ...created, path: rest };
  const segment = rest.split("/")[1] ?? "";
  if (!Object.hasOwn(PASSED_ENDPOINTS, segment))
    return { type: "unknown", ...dropUndefined({ api: prefixApi }) };
  if (created && !(method === "GET" && rest === "/chat/completions"))
    return { type: "unknown", allow: ["POST"], api: created.api };
  const api = PASSED_ENDPOINTS[segment] ?? prefixApi ?? (prefix ? undefined : hint) ?? "openai-chat";
  if (rest === "/models")
    return READ_METHODS.includes(method)
      ? { type: "models", api, path: rest }
      : { type: "unknown", allow: READ_METHODS };
  return ALL_METHODS.includes(method)
    ? { type: "pass", api, path: rest }
    : { type: "unknown", allow: ALL_METHODS };
}
