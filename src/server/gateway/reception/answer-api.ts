import type { IncomingMessage, ServerResponse } from "node:http";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import type { WireFault } from "../../../wire/wire.ts";
import type { RouteName } from "../../api/index.ts";
import { type ApiError, createDoorError } from "../../api/jobs/index.ts";
import { isLoopback } from "../config/schema-values.ts";
import type { Admission, AdmittedRequest } from "../door/admit.ts";
import type { Principal } from "../door/principal.ts";
import { ByteShare, createClientSignal, type HeldBytes, readRequestBody } from "../door/read-body.ts";
import type { DoorLimits } from "../door/request-head.ts";
import { findRoute, isSignIn } from "../door/route.ts";
import { type FormerPeople, getMemoryAgent, listSessionPrefixes } from "../identity/person-ids.ts";
import type { ApiTrace } from "../observe/observer.ts";
import type { LazyApi } from "../pages/lazy-api.ts";

const BASE = "/api/v1";
const PROXY_HEADERS = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

/** Dependencies of the way from the door to the API. */
interface ApiDoorDeps {
  readonly api: LazyApi;
  readonly formerPeople: FormerPeople;
  readonly limits: DoorLimits;
  readonly held: HeldBytes;
  /** Aborted when the gateway closes. */
  readonly controller: AbortController;
}

/** True for a request whose errors have the form of the API. */
export function isApiRequest({ method = "GET", url = "/" }: IncomingMessage): boolean {
  const [path = "/"] = url.split("?", 1);
  if (path === BASE || path.startsWith(`${BASE}/`)) {
    const route = findRoute("GET", path);
    return route.type === "page" && route.name === "v1";
  }
  return path === "/openapi.json" && method !== "OPTIONS";
}

/** Reads the body of an admitted request to the API, answers it, and returns its route if there is one. */
export async function answerApi(
  request: IncomingMessage,
  response: ServerResponse,
  { principal, target, encoding }: Extract<Admission, { readonly type: "admitted" }>,
  deps: ApiDoorDeps,
): Promise<RouteName | undefined> {
  const { api: lazy, limits, held, controller } = deps;
  const api = await lazy.load();
  if (target.route.type === "page" && target.route.name === "openapi") {
    request.resume();
    api.sendDocument(response, request.method === "HEAD");
    return { operation: "openapi", path: "/openapi.json", isStream: false };
  }
  const signal = createClientSignal(response, controller);
  const share = new ByteShare(held);
  try {
    const read = await readRequestBody(request, limits, { encoding, signal, response, share });
    if (read.type === "gone") return undefined;
    if (read.type === "refused") {
      api.sendError(response, toApiError(read.fault));
      return undefined;
    }
    const caller = {
      ...(isSignIn(target.route) ? NOBODY : await identifyCaller(principal, deps.formerPeople)),
      isOnLoopback: isDirect(request),
    };
    const path = target.path.slice(BASE.length).replace(/\/$/, "");
    return await api.handle({
      request,
      response,
      caller,
      path,
      query: target.query,
      body: read.body,
      signal,
    });
  } finally {
    share.settle(0);
  }
}

/** True for a request of this computer that no proxy has forwarded. */
function isDirect({ socket, headers }: IncomingMessage): boolean {
  const isForwarded = PROXY_HEADERS.some((name) => headers[name] !== undefined);
  return !isForwarded && isLoopback(socket.remoteAddress?.replace(/^::ffff:/i, "") ?? "");
}

/** The caller of routes that need no token: they must not act with the rights of anybody. */
const NOBODY = {
  id: "nobody",
  name: undefined,
  role: "member",
  prefixes: [],
  homePrefix: "nobody/",
  memoryAgent: "nobody",
} as const;

async function identifyCaller(principal: Principal, formerPeople: FormerPeople) {
  const { id, token: name, role, personToken } = principal;
  const base = { id, name, role, memoryAgent: getMemoryAgent(principal), ...dropUndefined({ personToken }) };
  if (name === undefined) return { ...base, prefixes: undefined, homePrefix: "" };
  const own = listSessionPrefixes(await formerPeople.complete(principal));
  return { ...base, prefixes: role === "admin" ? undefined : own, homePrefix: own[0] ?? "" };
}

/** A refusal of the door as an error of the API. */
export function toApiError({ status, message, headers }: WireFault): ApiError {
  return createDoorError(status, message, headers);
}

/** The facts about an answered request to the API; the client is gone if the reply did not end. */
export function toApiTrace(
  { method = "GET", headers }: IncomingMessage,
  response: ServerResponse,
  end: {
    readonly route: RouteName | undefined;
    readonly admission: AdmittedRequest;
    readonly startedMs: number;
  },
): ApiTrace {
  const { route, admission, startedMs } = end;
  const bytesIn = Number(headers["content-length"] ?? 0);
  return {
    method,
    operation: route?.operation ?? "unknown",
    path: route?.path,
    isStream: route?.isStream ?? false,
    principal: admission.principal.id,
    status: response.statusCode,
    isGone: !response.writableEnded,
    ms: performance.now() - startedMs,
    bytesIn: Number.isFinite(bytesIn) ? bytesIn : 0,
  };
}
