import type { IncomingMessage, ServerResponse } from "node:http";
import type { AdmittedRequest } from "./door/admit.ts";
import type { ByteBudget } from "./door/byte-budget.ts";
import { createClientSignal } from "./door/client-signal.ts";
import type { DoorLimits } from "./door/door-config.ts";
import { readRequestBody } from "./door/read-body.ts";
import { FaultError } from "./fault-error.ts";
import type { FormerPeople } from "./identity/former-people.ts";
import { describeCaller, type McpMount, parseMountedBody } from "./mcp-mount.ts";

/** Dependencies of the way from the door to the MCP server. */
interface McpDoorDeps {
  readonly mcp: McpMount | undefined;
  readonly formerPeople: FormerPeople;
  readonly limits: DoorLimits;
  readonly budget: ByteBudget;
  /** Aborted when the gateway closes. */
  readonly controller: AbortController;
}

/** Reads the body of an admitted request to `/mcp` and answers it; throws a `FaultError` if it is refused. */
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
    const person = await formerPeople.complete(principal);
    response.setHeader("cache-control", "no-store");
    const caller = describeCaller(request, target, person);
    await mcp.handle(request, response, { caller, body: parseMountedBody(read.body) });
  } finally {
    share.release();
  }
}
