import { parse } from "node:path";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { findMemoryOwner, isOwnSession } from "../../model/session-key.ts";
import {
  findHistoryPlace,
  findProjectFolder,
  type HistoryPlace,
  isWithinProject,
} from "../../model/session-origin.ts";
import { toObject } from "../../wire/fields.ts";
import type { Kernel, MemoryScope, SessionId, SessionRecord } from "../index.ts";

/** Number of newest sessions to inspect where their kind or project counts. */
const MAX_SESSIONS = 10_000;
const PAGE_SESSIONS = 1_000;
const FIRST_PAGE_SESSIONS = 16;
/** Kinds of sessions of the gateway that are conversations; the rest are requests that clients made for themselves. */
const CONVERSATION_KINDS: readonly unknown[] = [undefined, "main", "agent"];

/** The sessions that a recall searches, and the number of conversations that it leaves out. */
export interface ConversationScope {
  readonly scope: MemoryScope;
  readonly others: number;
}

/** A conversation, and the folder that it worked in, if known. */
interface ProjectConversation {
  readonly id: SessionId;
  readonly project: string | undefined;
  /** Where its history lay; undefined if longhaul recorded it. */
  readonly place: HistoryPlace | undefined;
}

/** The result of a listing. */
interface ReadConversations {
  readonly conversations: readonly ProjectConversation[];
  /** The newest session of the store, of any kind. */
  readonly newest: SessionId | undefined;
  /** True if the listing ended at `until`. */
  readonly isCutShort: boolean;
}

/** Limits of a listing. */
interface ConversationQuery {
  /** Ids begin with one of these; undefined stands for the local user, who owns the whole store. */
  readonly prefixes?: readonly string[] | undefined;
  /** Ends the listing at this session, which is not included. */
  readonly until?: SessionId | undefined;
}

/**
 * The newest conversations, newest first, without requests that clients made for themselves: a request for a title
 * repeats the very words of a query and would be found instead of the content that they refer to.
 */
export async function readConversations(
  kernel: Pick<Kernel, "sessions">,
  { prefixes, until }: ConversationQuery,
): Promise<ReadConversations> {
  const conversations: ProjectConversation[] = [];
  let newest: SessionId | undefined;
  let before: SessionId | undefined;
  // Usually few sessions are newer than the known ones.
  let limit = until === undefined ? PAGE_SESSIONS : FIRST_PAGE_SESSIONS;
  for (let read = 0; read < MAX_SESSIONS; read += limit, limit = PAGE_SESSIONS) {
    const page = await kernel.sessions({ limit, ...dropUndefined({ before }) });
    for (const record of page) {
      newest ??= record.id;
      if (record.id === until) return { conversations, newest, isCutShort: true };
      if (isConversation(record) && isOwnSession(prefixes, record.id))
        conversations.push({
          id: record.id,
          project: findProjectFolder(record),
          place: findHistoryPlace(record),
        });
    }
    before = page.at(-1)?.id;
    if (page.length < limit) break;
  }
  return { conversations, newest, isCutShort: false };
}

/**
 * The conversations of some projects, and the number of others; all of them without projects. A conversation whose
 * project is unknown belongs to every project.
 */
export function selectProject(
  conversations: readonly ProjectConversation[],
  projects: readonly string[],
): { readonly sessions: readonly SessionId[]; readonly others: number } {
  // Thousands of conversations share a few projects.
  const known = new Map<string, boolean>();
  const isWanted = (project: string) => {
    const found = known.get(project) ?? projects.some((one) => isSameProject(project, one));
    known.set(project, found);
    return found;
  };
  const inside = conversations.filter(
    ({ project }) => projects.length === 0 || project === undefined || isWanted(project),
  );
  return { sessions: inside.map(({ id }) => id), others: conversations.length - inside.length };
}

/** Time after which all sessions are read again, because sessions may have been deleted or changed. */
const MAX_AGE_MS = 60_000;
const MAX_CONVERSATIONS = 10_000;

/** The conversations of one caller. Between full readings, only sessions newer than the known ones are read. */
export class ConversationIndex {
  readonly #kernel: Pick<Kernel, "sessions">;
  readonly #prefixes: readonly string[] | undefined;
  #known: readonly ProjectConversation[] = [];
  #newest: SessionId | undefined;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(kernel: Pick<Kernel, "sessions">, prefixes: readonly string[] | undefined) {
    this.#kernel = kernel;
    this.#prefixes = prefixes;
  }

  /** The conversations, newest first. */
  async list(): Promise<readonly ProjectConversation[]> {
    const now = performance.now();
    const until = now - this.#readAt > MAX_AGE_MS ? undefined : this.#newest;
    const { conversations, newest, isCutShort } = await readConversations(this.#kernel, {
      prefixes: this.#prefixes,
      until,
    });
    if (!isCutShort) {
      this.#known = conversations;
      this.#readAt = now;
    } else if (conversations.length > 0)
      this.#known = [...conversations, ...this.#known].slice(0, MAX_CONVERSATIONS);
    this.#newest = newest;
    return this.#known;
  }

  /** The sessions of some projects, and the number of conversations elsewhere. */
  async within(
    projects: readonly string[],
  ): Promise<{ readonly sessions: readonly SessionId[]; readonly others: number }> {
    return selectProject(await this.list(), projects);
  }
}

/** Folders whose indexed files belong to the projects; files belong to the local user only. */
export function listProjectFolders(projects: readonly string[]): readonly string[] {
  return projects.length > 0 ? projects : [parse(process.cwd()).root];
}

function isConversation({ id, meta }: SessionRecord): boolean {
  return findMemoryOwner(id) === undefined && CONVERSATION_KINDS.includes(toObject(meta?.gateway)?.kind);
}

/** True if one folder is, or is in, the other. */
export function isSameProject(one: string, other: string): boolean {
  return isWithinProject(one, other) || isWithinProject(other, one);
}

type SessionMeta = NonNullable<SessionRecord["meta"]>;

/** Facts about a thread that people may read; the others identify the conversation. */
const PUBLIC_FIELDS: readonly string[] = ["kind", "client", "agent", "project"];

/** The metadata of a session for people: without the gateway's own marks. */
export function pickPublicMeta(meta: SessionMeta | undefined): SessionMeta | undefined {
  const own = toObject(meta?.gateway);
  if (!meta || !own) return meta;
  const fields = Object.entries(own).filter(([name]) => PUBLIC_FIELDS.includes(name));
  return { ...meta, gateway: Object.fromEntries(fields) } as SessionMeta;
}
