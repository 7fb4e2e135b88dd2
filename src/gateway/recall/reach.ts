import { parse } from "node:path";
import type { Kernel, MemoryScope, SessionId } from "../../index.ts";
import type { GatewayConfig } from "../config/config.ts";
import { sessionPrefix } from "../thread/names.ts";
import { markOf } from "../thread/session-mark.ts";

/** Number of newest sessions to inspect where their kind counts. */
const MOST_SESSIONS = 10_000;
const PAGE = 1_000;

/**
 * The scope of the gateway's tools: the principal's own sessions, and indexed files only if the gateway has no tokens
 * and so serves a single person.
 */
export function reachOf(principal: string, { tokens }: Pick<GatewayConfig, "tokens">): MemoryScope {
  const prefix = sessionPrefix(principal);
  return tokens.length > 0 ? { prefix } : { prefix, files: [parse(process.cwd()).root] };
}

/**
 * The same scope without requests that clients made for themselves: a request for a title repeats the very words of the
 * query and would be found instead of the content that they refer to.
 */
export async function talksWithin(
  { prefix = "", files }: MemoryScope,
  kernel: Pick<Kernel, "sessions">,
): Promise<MemoryScope> {
  const sessions: SessionId[] = [];
  for (let read = 0, before: SessionId | undefined; read < MOST_SESSIONS; read += PAGE) {
    const page = await kernel.sessions({ limit: PAGE, ...(before !== undefined && { before }) });
    for (const { id, meta } of page) {
      const kind = markOf(meta)?.kind;
      if (id.startsWith(prefix) && (kind === undefined || kind === "main" || kind === "agent"))
        sessions.push(id);
    }
    before = page.at(-1)?.id;
    if (page.length < PAGE) break;
  }
  return { sessions, ...(files && { files }) };
}
