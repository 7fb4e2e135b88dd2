import type { IncomingMessage, ServerResponse } from "node:http";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { parseJson } from "../../../model/base/parse-json.ts";
import { FaultError } from "../../../wire/fault-error.ts";
import type { AdmittedRequest } from "../door/admit.ts";
import { ByteShare, createClientSignal, type HeldBytes, readRequestBody } from "../door/read-body.ts";
import type { DoorLimits } from "../door/request-head.ts";
import { type FormerPeople, getMemoryAgent, type PersonIds } from "../identity/person-ids.ts";
import { buildPersonScope } from "../recall/person-scope.ts";

/** Dependencies of the way from the door to the MCP server, or to another one that takes a whole JSON body. */
interface McpDoorDeps {
  readonly mcp: Pick<McpMount, "handle"> | undefined;
  readonly formerPeople: FormerPeople;
  readonly limits: DoorLimits;
  readonly held: HeldBytes;
  /** Aborted when the gateway closes. */
  readonly controller: AbortController;
}

/** Reads the body of an admitted request to `/mcp` or `/hooks` and answers it; throws a `FaultError` if it is refused. */
export async function answerMcp(
  request: IncomingMessage,
  response: ServerResponse,
  { principal, target, encoding, hasBody }: AdmittedRequest,
  { mcp, formerPeople, limits, held, controller }: McpDoorDeps,
): Promise<void> {
  if (!mcp)
    throw new FaultError({ status: 404, kind: "not_found", message: `There is nothing at ${target.path}.` });
  const signal = createClientSignal(response, controller);
  const share = new ByteShare(held);
  try {
    const read = hasBody
      ? await readRequestBody(request, limits, { encoding, signal, response, share })
      : { type: "read" as const, body: Buffer.alloc(0) };
    if (read.type === "gone") return;
    if (read.type === "refused") throw new FaultError(read.fault);
    const person = await formerPeople.complete(principal);
    response.setHeader("cache-control", "no-store");
    const caller = describeCaller(request, target, person);
    await mcp.handle(request, response, { caller, body: parseMountedBody(read.body) });
  } finally {
    share.settle(0);
  }
}

/** The sender of a request for the Model Context Protocol. */
interface MountedCaller {
  readonly prefixes?: readonly string[];
  readonly agent: string;
  readonly projects?: readonly string[];
  readonly session?: string;
}

/** Serves the Model Context Protocol behind the gateway's door. */
export interface McpMount {
  handle(
    request: IncomingMessage,
    response: ServerResponse,
    call: { readonly caller: MountedCaller; readonly body: unknown },
  ): Promise<void>;
  close(): Promise<void>;
}

/** Answers the hooks of agents behind the gateway's door. */
export interface HookMount {
  handle(
    request: IncomingMessage,
    response: ServerResponse,
    call: { readonly caller: MountedCaller; readonly body: unknown; readonly client: string },
  ): Promise<void>;
  close(): Promise<void>;
}

const PROJECT_HEADER = "x-longhaul-project";
const SESSION_HEADER = "x-longhaul-session";

/** Describes the sender: the person of its token, and the project and conversation that its configuration states. */
function describeCaller(
  { headers }: Pick<IncomingMessage, "headers">,
  { query }: AdmittedRequest["target"],
  person: PersonIds,
): MountedCaller {
  const { prefixes } = buildPersonScope(person) ?? {};
  const project = headers[PROJECT_HEADER]?.toString() || new URLSearchParams(query).get("project");
  const session = headers[SESSION_HEADER]?.toString();
  return {
    agent: getMemoryAgent(person),
    ...dropUndefined({ prefixes }),
    ...(project && { projects: [project] }),
    ...(session && { session }),
  };
}

/** The parsed body; undefined if it is empty, not JSON or nested too deep, which the protocol answers itself. */
function parseMountedBody(body: Buffer): unknown {
  try {
    return body.length === 0 ? undefined : parseJson(body.toString("utf8"));
  } catch {
    return undefined;
  }
}
