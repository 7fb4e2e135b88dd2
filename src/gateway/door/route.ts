import type { ApiName } from "../api/api.ts";

/** Pages of the gateway's own. */
export type PageName =
  | "front"
  | "healthz"
  | "readyz"
  | "metrics"
  | "status"
  | "import"
  | "recall"
  | "replay"
  | "sessions";

/** What a path is for. `path` of a provider's endpoint is what stands behind the version: "/messages". */
export type Route =
  | {
      readonly type: "api";
      readonly api: ApiName;
      readonly action: "create" | "count";
      readonly path: string;
    }
  | { readonly type: "models"; readonly api: ApiName; readonly path: string }
  /** Another endpoint of a provider, passed through untouched. */
  | { readonly type: "pass"; readonly api: ApiName; readonly path: string }
  /** `rest` are the segments behind the page's own. */
  | { readonly type: "page"; readonly name: PageName; readonly rest: readonly string[] }
  /** `allow` names the methods of a path that exists, but not with this method. */
  | { readonly type: "unknown"; readonly allow?: readonly string[] };

const READ = ["GET", "HEAD"];
const ANY = ["GET", "HEAD", "POST", "DELETE"];

/** Endpoints that the gateway itself understands. */
const CREATED: Readonly<Record<string, { api: ApiName; action: "create" | "count" }>> = {
  "/messages": { api: "anthropic", action: "create" },
  "/messages/count_tokens": { api: "anthropic", action: "count" },
  "/chat/completions": { api: "openai-chat", action: "create" },
  "/responses": { api: "openai-responses", action: "create" },
  "/responses/input_tokens": { api: "openai-responses", action: "count" },
};

const PAGES: Readonly<Record<string, { name: PageName; methods: readonly string[] }>> = {
  "/": { name: "front", methods: READ },
  "/healthz": { name: "healthz", methods: READ },
  "/readyz": { name: "readyz", methods: READ },
  "/metrics": { name: "metrics", methods: READ },
};
const API_PAGES: readonly PageName[] = ["status", "import", "recall", "replay", "sessions"];

/** First segments of endpoints that pass, with the API they belong to where that is certain. */
const PASSED: Readonly<Record<string, ApiName | undefined>> = {
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

const PREFIX = /^\/(anthropic|openai|api|openrouter|google|gemini|ollama|llama\.cpp)(?=\/|$)/;
/** Clients whose base URL already ends in /v1 double it; the other is Google's. */
const VERSION = /^(?:(?:\/v1(?=\/|$)){1,2}|\/v1beta\/openai(?=\/|$))/;

/**
 * Says what a path is for. Endpoints are found with and without /v1, and behind the name of a provider; that name and
 * `hint` decide only for endpoints that several APIs have.
 */
export function routeOf(method: string, path: string, hint?: ApiName): Route {
  const whole = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
  return pageOf(method, whole) ?? endpointOf(method, whole, hint);
}

function pageOf(method: string, path: string): Route | undefined {
  const page = Object.hasOwn(PAGES, path) ? PAGES[path] : undefined;
  if (page) {
    if (!page.methods.includes(method)) return { type: "unknown", allow: page.methods };
    return { type: "page", name: page.name, rest: [] };
  }
  const [, api, segment, ...rest] = path.split("/");
  const name = api === "api" ? API_PAGES.find((one) => one === segment) : undefined;
  if (!name) return undefined;
  return ANY.includes(method) ? { type: "page", name, rest } : { type: "unknown", allow: ANY };
}

function endpointOf(method: string, path: string, hint: ApiName | undefined): Route {
  const prefix = PREFIX.exec(path);
  const inside = prefix ? path.slice(prefix[0].length) : path;
  const rest = inside.replace(VERSION, "");
  const created = Object.hasOwn(CREATED, rest) ? CREATED[rest] : undefined;
  if (created && method === "POST") return { type: "api", ...created, path: rest };
  const segment = rest.split("/")[1] ?? "";
  if (!Object.hasOwn(PASSED, segment)) return { type: "unknown" };
  if (created && !(method === "GET" && rest === "/chat/completions"))
    return { type: "unknown", allow: ["POST"] };
  const api = PASSED[segment] ?? (prefix ? apiOfPrefix(prefix[1]) : hint) ?? "openai-chat";
  if (rest === "/models")
    return READ.includes(method) ? { type: "models", api, path: rest } : { type: "unknown", allow: READ };
  return ANY.includes(method) ? { type: "pass", api, path: rest } : { type: "unknown", allow: ANY };
}

function apiOfPrefix(prefix: string | undefined): ApiName {
  return prefix === "anthropic" ? "anthropic" : "openai-chat";
}
