import type { IncomingMessage, ServerResponse } from "node:http";
import { checkFields } from "../../model/argument-checks.ts";
import { Lazy } from "../../model/base/lazy.ts";
import { createArgumentError } from "../../model/errors.ts";
import type { McpHttpServer, McpRequest } from "./http-server.ts";
import { type McpOptions, McpService, type ToolSet } from "./mcp-service.ts";
import type { McpStdioOptions } from "./serve-stdio.ts";

export type { McpRequest } from "./http-server.ts";
export type { McpCaller, McpOptions, ToolSet } from "./mcp-service.ts";
export type { McpStdioOptions } from "./serve-stdio.ts";
export { SKILL_FILE, SKILL_TEXT } from "./skill.ts";

/** Serves the protocol at a path of an HTTP server; its package is loaded with the first request. */
export interface McpEndpoint extends AsyncDisposable {
  /** Answers one request, whose sender was checked and whose body was read. */
  handle(request: IncomingMessage, response: ServerResponse, call: McpRequest): Promise<void>;
  /** Ends open streams. Idempotent. */
  close(): Promise<void>;
}

const TOOL_SETS: readonly unknown[] = ["default", "all"] satisfies ToolSet[];

/** Creates an endpoint over a kernel. It keeps no sessions: any request may come first. */
export function createMcpEndpoint(options: McpOptions): McpEndpoint {
  const service = new McpService(checkOptions(options));
  const server = new Lazy<McpHttpServer>(async () =>
    (await import("./http-server.ts")).createHttpServer(service),
  );
  const close = async () => {
    await (await server.peek())?.close();
  };
  return {
    async handle(request, response, call) {
      await (await server.get()).handle(request, response, call);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Serves one client on a pair of streams until it closes its end, or the signal aborts. */
export async function serveMcpStdio(options: McpStdioOptions): Promise<void> {
  checkOptions(options);
  checkFields("options", options, { stdin: "object", stdout: "object", signal: "signal", caller: "object?" });
  const { runStdioServer } = await import("./serve-stdio.ts");
  await runStdioServer(options);
}

function checkOptions(options: McpOptions): McpOptions {
  const { tools } = checkFields("options", options, { kernel: "object", onError: "function?" });
  if (tools !== undefined && !TOOL_SETS.includes(tools))
    throw createArgumentError("tools", tools, '"default" or "all"');
  return options;
}
