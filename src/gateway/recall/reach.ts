import { parse } from "node:path";
import type { MemoryScope } from "../../index.ts";
import type { GatewayConfig } from "../config/config.ts";
import { sessionPrefix } from "../thread/names.ts";

/** What is looked at for someone: their own sessions, and indexed files only where everyone who comes in is the same person. */
export function reachOf(principal: string, { tokens }: Pick<GatewayConfig, "tokens">): MemoryScope {
  const prefix = sessionPrefix(principal);
  return tokens.length > 0 ? { prefix } : { prefix, files: [parse(process.cwd()).root] };
}
