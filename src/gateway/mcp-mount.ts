import type { IncomingMessage, ServerResponse } from "node:http";
import { parseJson } from "../base/parse-json.ts";
import type { AdmittedRequest } from "./door/admit.ts";
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

const PROJECT_HEADER = "x-longhaul-project";
const SESSION_HEADER = "x-longhaul-session";

/** Describes the sender: the person of its token, and the project and conversation that its configuration states. */
export function describeCaller(
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

/** The parsed body; undefined if it is empty, not JSON or nested too deep, which the protocol answers itself. */
export function parseMountedBody(body: Buffer): unknown {
  try {
    return body.length === 0 ? undefined : parseJson(body.toString("utf8"));
  } catch {
    return undefined;
  }
}
