import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  isInputRequiredResult,
  type McpRequestContext,
  McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { readVersion } from "../base/package-files.ts";
import { isLonghaulError } from "../index.ts";
import { ClientRoots } from "./client-roots.ts";
import type { McpCaller } from "./mcp-caller.ts";
import type { McpService } from "./mcp-service.ts";
import { registerPrompts } from "./register-prompts.ts";
import { registerResources } from "./resources/register-resources.ts";
import { SKILL_TEXT } from "./skill.ts";
import { type McpCall, refuseCall, type ToolDefinition, toToolResult } from "./tool-definition.ts";
import { TOOLS } from "./tools/tools.ts";

/** Time during which a client need not ask again for lists that never change in a process. */
const LIST_TTL_MS = 3_600_000;
const LASTING = { ttlMs: LIST_TTL_MS, cacheScope: "public" } as const;

/** Creates a server for one request, or for one connection on stdio. The same definition serves both eras. */
export function createMcpServer(
  service: McpService,
  caller: McpCaller,
  { era }: Pick<McpRequestContext, "era">,
): McpServer {
  const server = new McpServer(
    { name: "longhaul", title: "longhaul", version: readVersion() },
    {
      instructions: SKILL_TEXT,
      cacheHints: { "tools/list": LASTING, "prompts/list": LASTING, "server/discover": LASTING },
    },
  );
  const roots = era === "legacy" ? new ClientRoots(server) : undefined;
  const findProjects = async () => (await roots?.list()) ?? caller.projects ?? [];
  const toCall = (context: ServerContext): McpCall => {
    const session = caller.session ?? findSessionName(context);
    return {
      service,
      caller: session === undefined ? caller : { ...caller, session },
      findProjects,
      context,
      canAskUser: era === "modern" && canElicit(context),
    };
  };
  for (const tool of TOOLS[service.tools]) registerTool(server, tool, toCall);
  registerResources(server, { service, caller, findProjects });
  registerPrompts(server, toCall);
  return server;
}

function registerTool(
  server: McpServer,
  tool: ToolDefinition,
  toCall: (context: ServerContext) => McpCall,
): void {
  const { name, title, description, input, output, annotations } = tool;
  server.registerTool(
    name,
    { title, description, inputSchema: input, outputSchema: output, annotations },
    async (given, context) => {
      const call = toCall(context);
      try {
        const reply = await tool.run(given, call);
        return isInputRequiredResult(reply)
          ? reply
          : toToolResult(reply as Parameters<typeof toToolResult>[0]);
      } catch (error) {
        if (isLonghaulError(error)) return toToolResult(refuseCall(`${error.message} (${error.code})`));
        call.service.onError(error);
        return toToolResult(refuseCall("longhaul failed; its log on standard error has the reason."));
      }
    },
  );
}

/** True if the client of a request can show a form to its user. */
function canElicit({ mcpReq }: ServerContext): boolean {
  const envelope = mcpReq.envelope as
    | { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities }
    | undefined;
  const elicitation = envelope?.[CLIENT_CAPABILITIES_META_KEY]?.elicitation;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** The conversation that a request names in its metadata. */
function findSessionName({ mcpReq }: ServerContext): string | undefined {
  const name = mcpReq._meta?.["longhaul/session"];
  return typeof name === "string" && name !== "" ? name : undefined;
}
