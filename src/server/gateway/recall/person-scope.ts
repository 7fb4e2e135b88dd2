import {
  type ConversationScope,
  listProjectFolders,
  readConversations,
  selectProject,
} from "../../../kernel/calls/project-conversations.ts";
import type { Kernel, MemoryScope } from "../../../kernel/index.ts";
import { LOCAL_PERSON } from "../../../model/session-key.ts";
import { listPersonOwners, listSessionPrefixes, type PersonIds } from "../identity/person-ids.ts";

/**
 * The scope of a person: with a token, the person's own sessions; without tokens, everything in the store, because all
 * of it belongs to the one user: imports, conversations, files. Undefined stands for everything; memories of others are
 * never included.
 */
export function buildPersonScope(person: PersonIds): MemoryScope | undefined {
  if (person.id === LOCAL_PERSON) return undefined;
  return { prefixes: listSessionPrefixes(person), owners: listPersonOwners(person) };
}

/**
 * The conversations of a person, without those of other projects, and without requests that clients made for
 * themselves. A conversation whose project is unknown belongs to every project.
 */
export async function listConversations(
  kernel: Pick<Kernel, "sessions">,
  person: PersonIds,
  project: string | undefined,
): Promise<ConversationScope> {
  const isLocal = person.id === LOCAL_PERSON;
  const projects = project === undefined ? [] : [project];
  const prefixes = isLocal ? undefined : listSessionPrefixes(person);
  const { conversations } = await readConversations(kernel, { prefixes });
  const { sessions, others } = selectProject(conversations, projects);
  const bounds = isLocal ? { files: listProjectFolders(projects) } : { owners: listPersonOwners(person) };
  return { scope: { sessions, ...bounds }, others };
}
