import type { IncomingMessage, ServerResponse } from "node:http";
import type { RouteName } from "../api/index.ts";
import type { AdmittedRequest } from "./door/admit.ts";
import type { ApiTrace } from "./observe/observe-api.ts";

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
