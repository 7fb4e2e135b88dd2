import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdioTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OldHttpTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { onTestFinished } from "vitest";
import { createMcpEndpoint, type McpCaller, type McpOptions } from "../../../src/adapters/mcp/index.ts";
import type { Kernel } from "../../../src/kernel/index.ts";
import { MAIN } from "../../cli/support/program.ts";
import { COMPILE_CACHE } from "../../support/compile-cache.ts";

/** The protocol of a client: its official package of 2025, or that of 2026. */
export type Era = "2025" | "2026";
export const ERAS: readonly Era[] = ["2025", "2026"];

/** The part of both clients that tests use. */
export interface TestClient {
  readonly client: Pick<Client, "listTools" | "callTool" | "readResource" | "listResources" | "getPrompt">;
  /** Calls a tool and returns its text, and whether it is an error. */
  call(
    name: string,
    args?: Record<string, unknown>,
  ): Promise<{ text: string; isError: boolean; next?: string }>;
}

/** The answer of the user to a question of the server. */
type AskUser = (message: string) => { action: "accept" | "decline"; content?: Record<string, boolean> };

interface ClientOptions {
  readonly era: Era;
  readonly onQuestion?: AskUser;
  readonly headers?: Readonly<Record<string, string>>;
  /** Folders that a client of 2025 offers. */
  readonly roots?: readonly string[];
}

/** Serves a kernel on a separate port, without the gateway's checks. */
export async function serveEndpoint(
  kernel: Kernel,
  caller: McpCaller = {},
  options: Partial<McpOptions> = {},
): Promise<string> {
  const errors: unknown[] = [];
  const endpoint = createMcpEndpoint({ kernel, onError: (error) => errors.push(error), ...options });
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    await endpoint.handle(request, response, { caller, body: text === "" ? undefined : JSON.parse(text) });
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    await endpoint.close();
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

/** Connects the official client of an era over HTTP. */
export function connectHttp(url: string, options: ClientOptions): Promise<TestClient> {
  const requestInit = { headers: { ...options.headers } };
  return options.era === "2026"
    ? connectNew(new StreamableHTTPClientTransport(new URL(url), { requestInit }), options)
    : connectOld(new OldHttpTransport(new URL(url), { requestInit }), options);
}

/** Starts the built program and connects the official client of an era on its standard streams. */
export function connectStdio(
  args: readonly string[],
  options: ClientOptions & { readonly cwd: string },
): Promise<TestClient> {
  const { cwd } = options;
  const env = { PATH: process.env.PATH ?? "", ...COMPILE_CACHE };
  const parameters = { command: process.execPath, args: [MAIN, "mcp", ...args], cwd, env };
  return options.era === "2026"
    ? connectNew(new StdioClientTransport(parameters), options)
    : connectOld(new OldStdioTransport(parameters), options);
}

async function connectNew(
  transport: Parameters<Client["connect"]>[0],
  { onQuestion }: ClientOptions,
): Promise<TestClient> {
  const client = new Client(
    { name: "test", version: "1" },
    {
      versionNegotiation: { mode: { pin: "2026-07-28" } },
      capabilities: onQuestion ? { elicitation: { form: {} } } : {},
    },
  );
  if (onQuestion)
    client.setRequestHandler("elicitation/create", async ({ params }) => onQuestion(params.message));
  await client.connect(transport);
  onTestFinished(() => client.close());
  return toTestClient(client);
}

async function connectOld(
  transport: Parameters<OldClient["connect"]>[0],
  { roots }: ClientOptions,
): Promise<TestClient> {
  const client = new OldClient({ name: "test", version: "1" }, { capabilities: roots ? { roots: {} } : {} });
  if (roots) {
    const { ListRootsRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
    client.setRequestHandler(ListRootsRequestSchema, async () => ({
      roots: roots.map((folder) => ({ uri: `file://${folder}` })),
    }));
  }
  await client.connect(transport);
  onTestFinished(() => client.close());
  return toTestClient(client as unknown as TestClient["client"]);
}

function toTestClient(client: TestClient["client"]): TestClient {
  return {
    client,
    async call(name, args = {}) {
      const {
        structuredContent,
        content,
        isError = false,
      } = await client.callTool({ name, arguments: args });
      const [first] = content;
      const text = first?.type === "text" ? first.text : "";
      const { text: structured, next } = (structuredContent ?? {}) as { text?: string; next?: string };
      if (structured !== text && !isError) throw new Error(`two texts: ${text} and ${structured}`);
      return { text, isError, ...(next !== undefined && { next }) };
    },
  };
}
