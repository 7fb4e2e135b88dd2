import { parse } from "node:path";
import type { Kernel, MemoryScope, SessionId } from "../../index.ts";
import type { GatewayConfig } from "../config/config.ts";
import { listSessionPrefixes, type PersonIds } from "../identity/person-ids.ts";
import { parseThreadMeta } from "../thread/thread-meta.ts";

/** Number of newest sessions to inspect where their kind counts. */
const MAX_SESSIONS = 10_000;
const PAGE_SESSIONS = 1_000;

/**
 * The scope of the gateway's tools: the principal's own sessions, and indexed files only if the gateway has no tokens
 * and so serves a single person.
 */
export function buildToolScope(person: PersonIds, { tokens }: Pick<GatewayConfig, "tokens">): MemoryScope {
  const prefixes = listSessionPrefixes(person);
  return tokens.length > 0 ? { prefixes } : { prefixes, files: [parse(process.cwd()).root] };
}

/**
 * The same scope without requests that clients made for themselves: a request for a title repeats the very words of the
 * query and would be found instead of the content that they refer to.
 */
export async function narrowToConversations(
  { prefixes = [""], files }: MemoryScope,
  kernel: Pick<Kernel, "sessions">,
): Promise<MemoryScope> {
  const sessions: SessionId[] = [];
  for (let read = 0, before: SessionId | undefined; read < MAX_SESSIONS; read += PAGE_SESSIONS) {
    const page = await kernel.sessions({ limit: PAGE_SESSIONS, ...(before !== undefined && { before }) });
    for (const { id, meta } of page) {
      const kind = parseThreadMeta(meta)?.kind;
      const isOwn = prefixes.some((prefix) => id.startsWith(prefix));
      if (isOwn && (kind === undefined || kind === "main" || kind === "agent")) sessions.push(id);
    }
    before = page.at(-1)?.id;
    if (page.length < PAGE_SESSIONS) break;
  }
  return { sessions, ...(files && { files }) };
}
