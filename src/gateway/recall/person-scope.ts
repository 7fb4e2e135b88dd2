import { parse } from "node:path";
import type { Kernel, MemoryScope, SessionId, SessionRecord } from "../../index.ts";
import { toObject, toText } from "../../wire/fields.ts";
import { isWithinProject } from "../identity/find-project.ts";
import { isOwnSession, LOCAL_PERSON, listSessionPrefixes, type PersonIds } from "../identity/person-ids.ts";
import { parseThreadMeta } from "../thread/thread-meta.ts";

/** Number of newest sessions to inspect where their kind or project counts. */
const MAX_SESSIONS = 10_000;
const PAGE_SESSIONS = 1_000;

/** The sessions that a recall searches, and the number of conversations that it leaves out. */
export interface ConversationScope {
  readonly scope: MemoryScope;
  readonly others: number;
}

/**
 * The scope of a person: with a token, the person's own sessions; without tokens, everything in the store, because all
 * of it belongs to the one user: imports, conversations, files. Undefined stands for everything; memories of others are
 * never included.
 */
export function buildPersonScope(person: PersonIds): MemoryScope | undefined {
  return person.id === LOCAL_PERSON ? undefined : { prefixes: listSessionPrefixes(person) };
}

/**
 * The conversations of a person, without those of other projects, and without requests that clients made for
 * themselves: a request for a title repeats the very words of the query and would be found instead of the content that
 * they refer to. A conversation whose project is unknown belongs to every project.
 */
export async function listConversations(
  kernel: Pick<Kernel, "sessions">,
  person: PersonIds,
  project: string | undefined,
): Promise<ConversationScope> {
  const sessions: SessionId[] = [];
  let others = 0;
  for (let read = 0, before: SessionId | undefined; read < MAX_SESSIONS; read += PAGE_SESSIONS) {
    const page = await kernel.sessions({ limit: PAGE_SESSIONS, ...(before !== undefined && { before }) });
    for (const record of page) {
      if (!isConversation(record, person)) continue;
      const own = findSessionProject(record);
      if (project === undefined || own === undefined || isSameProject(own, project)) sessions.push(record.id);
      else others++;
    }
    before = page.at(-1)?.id;
    if (page.length < PAGE_SESSIONS) break;
  }
  const files = person.id === LOCAL_PERSON ? [project ?? parse(process.cwd()).root] : undefined;
  return { scope: { sessions, ...(files && { files }) }, others };
}

function isConversation({ id, meta }: SessionRecord, person: PersonIds): boolean {
  if (id.startsWith("memory:")) return false;
  const kind = parseThreadMeta(meta)?.kind;
  if (kind !== undefined && kind !== "main" && kind !== "agent") return false;
  return person.id === LOCAL_PERSON || isOwnSession(person, id);
}

/** The project of a session: as its client stated it, or as the import found it. */
function findSessionProject({ meta }: SessionRecord): string | undefined {
  const places = [meta, ...Object.values(meta ?? {})].map(toObject);
  const found = places.flatMap((place) => toText(place?.cwd) ?? toText(place?.directory) ?? []);
  return parseThreadMeta(meta)?.project ?? found[0];
}

function isSameProject(one: string, other: string): boolean {
  return isWithinProject(one, other) || isWithinProject(other, one);
}
