import type { Readable, Writable } from "node:stream";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { createMcpServer } from "./create-mcp-server.ts";
import { type McpCaller, type McpOptions, McpService } from "./mcp-service.ts";

/** Settings of a server on standard streams. */
export interface McpStdioOptions extends McpOptions {
  readonly caller?: McpCaller;
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly signal: AbortSignal;
}

/** Serves one client on a pair of streams until it closes its end, or the signal aborts. */
export async function runStdioServer(options: McpStdioOptions): Promise<void> {
  const { caller = {}, stdin, stdout, signal } = options;
  const service = new McpService(options);
  const transport = new StdioServerTransport(stdin, stdout);
  const handle = serveStdio((context) => createMcpServer(service, caller, context), {
    transport,
    onerror: service.onError,
  });
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
    stdin
      .once("end", resolve)
      .once("close", resolve)
      .once("error", () => resolve());
    stdout.once("error", () => resolve());
  });
  await handle.close();
}
