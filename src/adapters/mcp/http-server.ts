import type { IncomingMessage, ServerResponse } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { type AuthInfo, createMcpHandler } from "@modelcontextprotocol/server";
import { createMcpServer } from "./create-mcp-server.ts";
import type { McpCaller, McpService } from "./mcp-service.ts";

/** A request whose sender is known and whose body is read. */
export interface McpRequest {
  readonly caller: McpCaller;
  /** The parsed body; undefined if there is none, or if it is not JSON. */
  readonly body: unknown;
}

/** Answers requests over HTTP. */
export interface McpHttpServer {
  handle(request: IncomingMessage, response: ServerResponse, call: McpRequest): Promise<void>;
  /** Ends open streams. */
  close(): Promise<void>;
}

/** Creates a server without sessions, for both eras. Access is checked before. */
export function createHttpServer(service: McpService): McpHttpServer {
  const handler = createMcpHandler(
    (context) => createMcpServer(service, (context.authInfo?.extra?.caller ?? {}) as McpCaller, context),
    { legacy: "stateless", onerror: service.onError },
  );
  const answer = toNodeHandler(handler, { onerror: service.onError });
  return {
    handle(request, response, { caller, body }) {
      const auth: AuthInfo = { token: "", clientId: caller.agent ?? "local", scopes: [], extra: { caller } };
      // The adapter declares fields that Node leaves undefined as present.
      const authorized = Object.assign(request, { auth }) as Parameters<typeof answer>[0];
      return answer(authorized, response, body);
    },
    close: () => handler.close(),
  };
}
