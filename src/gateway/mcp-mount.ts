import type { IncomingMessage, ServerResponse } from "node:http";
import type { AdmittedRequest } from "./door/admit.ts";
import type { ByteBudget } from "./door/byte-budget.ts";
import { createClientSignal } from "./door/client-signal.ts";
import type { DoorLimits } from "./door/door-config.ts";
import { readRequestBody } from "./door/read-body.ts";
import { FaultError } from "./fault-error.ts";
import type { FormerPeople } from "./identity/former-people.ts";
import { getMemoryAgent, type PersonIds } from "./identity/person-ids.ts";
import { buildPersonScope } from "./recall/person-scope.ts";

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

/** Dependencies of the way from the door to the endpoint. */
interface McpDoorDeps {
  readonly mcp: McpMount | undefined;
  readonly formerPeople: FormerPeople;
  readonly limits: DoorLimits;
  readonly budget: ByteBudget;
  /** Aborted when the gateway closes. */
  readonly controller: AbortController;
}

const PROJECT_HEADER = "x-longhaul-project";
const SESSION_HEADER = "x-longhaul-session";

/** Reads the body of an admitted request and passes it on; throws FaultError for a request that is refused. */
export async function answerMcp(
  request: IncomingMessage,
  response: ServerResponse,
  { principal, target, encoding, hasBody }: AdmittedRequest,
  { mcp, formerPeople, limits, budget, controller }: McpDoorDeps,
): Promise<void> {
  if (!mcp) throw new FaultError({ status: 404, kind: "not_found", message: "There is nothing at /mcp." });
  const signal = createClientSignal(response, controller);
  const share = budget.openShare();
  try {
    const read = hasBody
      ? await readRequestBody(request, limits, { encoding, signal, response, share })
      : { type: "read" as const, body: Buffer.alloc(0) };
    if (read.type === "gone") return;
    if (read.type === "refused") throw new FaultError(read.fault);
    const caller = describeCaller(request, target, await formerPeople.complete(principal));
    response.setHeader("cache-control", "no-store");
    await mcp.handle(request, response, { caller, body: parseMountedBody(read.body) });
  } finally {
    share.release();
  }
}

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
    ...(prefixes && { prefixes }),
    ...(project && { projects: [project] }),
    ...(session && { session }),
  };
}

/** The parsed body; undefined if it is empty or not JSON, which the protocol answers itself. */
function parseMountedBody(body: Buffer): unknown {
  try {
    return body.length === 0 ? undefined : (JSON.parse(body.toString("utf8")) as unknown);
  } catch {
    return undefined;
  }
}
