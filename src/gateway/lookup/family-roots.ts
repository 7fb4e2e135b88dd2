import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import {
  type EntryId,
  isLonghaulError,
  type Json,
  type Kernel,
  LonghaulError,
  type Session,
  type SessionId,
  type SessionOptions,
} from "../../index.ts";
import { listPersonIds } from "../identity/person-ids.ts";
import { buildRootId, type CallerIdentity } from "../identity/session-ids.ts";
import { encodeThreadMeta, type ThreadMeta } from "../thread/thread-meta.ts";

/** Number of the newest conversations with the same beginning that are opened; older ones are found by their replies. */
const MAX_SIMILAR = 32;
/** The names of secondary conversations lie between those of roots. */
const PAGE_RECORDS = 100;
/** The end of a root's id after the first one's. */
const ORDINAL = /^(?:-\d+)?$/;

/**
 * The root sessions of a family, named by the caller, the first message and an ordinal. A family may have thousands,
 * because people begin with the same words again and again; only those in use are open.
 */
export class FamilyRoots {
  readonly #kernel: Kernel;
  readonly #caller: CallerIdentity;
  readonly #firstKey: string;
  /** First messages whose conversations have been looked up in the store. */
  readonly #searchedKeys = new Set<string>();
  readonly #roots = new Map<SessionId, Session>();
  /** Ids in use, also of roots that are not open. */
  readonly #taken = new Set<SessionId>();
  /** Ids of roots that were in use here and have left memory. */
  readonly #released = new Set<SessionId>();
  #firstFree = 1;
  #hasOthers = false;

  constructor(kernel: Kernel, caller: CallerIdentity, firstKey: string) {
    this.#kernel = kernel;
    this.#caller = caller;
    this.#firstKey = firstKey;
  }

  get sessions(): readonly Session[] {
    return [...this.#roots.values()];
  }

  /** True if conversations with this first message must be looked up; only the first time. */
  isNewSearch(firstKey: string): boolean {
    if (!this.mustSearch(firstKey)) return false;
    this.#searchedKeys.add(firstKey);
    return true;
  }

  /** True if conversations with this first message have not been looked up. */
  mustSearch(firstKey: string): boolean {
    return !this.#searchedKeys.has(firstKey) && this.#searchedKeys.size < MAX_SIMILAR;
  }

  /** True if the store may hold conversations of the family that are not open. */
  get hasOthers(): boolean {
    return this.#hasOthers;
  }

  /** The beginnings of the ids of all sessions of the family. */
  listIdPrefixes(): readonly string[] {
    return listPersonIds(this.#caller.principal).map((person) => this.#idOf(1, person));
  }

  /**
   * Opens the newest stored roots that are not open yet and returns them; another gateway may add some at any time.
   */
  async openStored(): Promise<readonly Session[]> {
    const opened: Session[] = [];
    for (const first of this.listIdPrefixes()) {
      for (const id of await this.#listStored(first)) {
        if (this.has(id) || this.#released.has(id)) continue;
        const root = await this.#kernel.session(id);
        this.#add(root);
        opened.push(root);
      }
    }
    return opened;
  }

  /** The ids of the newest stored roots, given the first id. */
  async #listStored(first: SessionId): Promise<readonly SessionId[]> {
    if (this.#caller.explicit !== undefined)
      return this.#roots.size === 0 && (await this.#kernel.find(first)) ? [first] : [];
    const found: SessionId[] = [];
    let before: SessionId | undefined;
    for (;;) {
      const page = { prefix: first, limit: PAGE_RECORDS, ...(before !== undefined && { before }) };
      const records = await this.#kernel.sessions(page);
      for (const { id } of records) {
        if (!ORDINAL.test(id.slice(first.length))) continue;
        this.#taken.add(id);
        if (found.length < MAX_SIMILAR) found.push(id);
        else this.#hasOthers = true;
      }
      before = records.at(-1)?.id;
      if (records.length < PAGE_RECORDS || found.length >= MAX_SIMILAR) {
        this.#hasOthers ||= records.length === PAGE_RECORDS;
        return found;
      }
    }
  }

  /**
   * Creates the only root of an explicit id, as a fork where it has an origin; undefined if it exists already, or if
   * another gateway has just begun it.
   */
  async createOnly(
    build: (id: SessionId) => SessionOptions,
    origin?: { readonly session: SessionId; readonly last: EntryId },
  ): Promise<Session | undefined> {
    const id = this.#idOf(1);
    if (this.#roots.size > 0 || (await this.#kernel.find(id))) return undefined;
    const options = build(id);
    if (origin) {
      await using trunk = await this.#kernel.session(origin.session);
      await trunk.fork({ id, at: origin.last, keepsEdits: true, ...options }).catch((error: unknown) => {
        // Another gateway has taken the id, or the origin has left the entry since: the conversation begins unrelated.
        const isTaken = isLonghaulError(error, "POSITION_CONFLICT") || isLonghaulError(error, "NOT_ON_LINE");
        if (!isTaken) throw error;
      });
    }
    const root = await this.#kernel.session(id, options);
    this.#add(root);
    const { meta } = await root.record();
    return isDeepStrictEqual(meta, options.meta) ? root : undefined;
  }

  /** The only root of an explicit id, which may have a former id of its person. */
  async open(): Promise<Session> {
    const [first] = this.sessions;
    if (first) return first;
    const root = await this.#kernel.session(this.#idOf(1));
    this.#add(root);
    return root;
  }

  /** Finds the id of the next new root; ids of deleted conversations are free again. */
  async findFreeId(): Promise<SessionId> {
    for (let ordinal = this.#findFreeOrdinal(); ; ordinal++) {
      const id = this.#idOf(ordinal);
      if (!this.#taken.has(id) && !(await this.#kernel.find(id))) return id;
      this.#taken.add(id);
    }
  }

  /** Creates a root; undefined if another gateway has just taken the id for a conversation of its own. */
  async create(id: SessionId, meta: ThreadMeta, title: string | undefined): Promise<Session | undefined> {
    const claim = randomUUID();
    const root = await this.#kernel.session(id, {
      meta: encodeThreadMeta(meta, claim),
      ...(title !== undefined && { title }),
    });
    const stored = (await root.record()).meta?.gateway as { readonly claim?: unknown } | undefined;
    this.#taken.add(id);
    if (stored?.claim !== claim) {
      await root.close();
      return undefined;
    }
    this.#add(root);
    return root;
  }

  /** Adds a root that points to a conversation of another family. */
  async addRedirect(to: Session): Promise<void> {
    this.#add(await createRedirect(to, await this.findFreeId()));
  }

  has(id: SessionId): boolean {
    return this.#roots.has(id);
  }

  /** Drops a root that is no longer in use; the store still has it. */
  release(id: SessionId): void {
    this.#roots.delete(id);
    this.#released.add(id);
    this.#hasOthers = true;
  }

  /** Drops a root whose session was deleted. */
  remove(id: SessionId): void {
    this.#roots.delete(id);
    this.#taken.delete(id);
    this.#released.delete(id);
    this.#firstFree = 1;
  }

  #add(root: Session): void {
    this.#roots.set(root.id, root);
    this.#taken.add(root.id);
  }

  #idOf(ordinal: number, person?: string): SessionId {
    return buildRootId(this.#caller, this.#firstKey, ordinal, person);
  }

  /** The first ordinal that is not known to be in use; after the newest ones where not all are known. */
  #findFreeOrdinal(): number {
    const first = this.#idOf(1);
    if (this.#hasOthers && this.#firstFree === 1) {
      for (const id of this.#taken) {
        const ordinal = id.startsWith(`${first}-`) ? Number(id.slice(first.length + 1)) : 1;
        this.#firstFree = Math.max(this.#firstFree, ordinal);
      }
    }
    while (this.#taken.has(this.#idOf(this.#firstFree))) this.#firstFree++;
    return this.#firstFree;
  }
}

/** The error for a family in which others begin conversations faster than one can be chosen. */
export function createCrowdedError(rounds: number): LonghaulError {
  return new LonghaulError(
    "STORE_BUSY",
    `Other gateways have begun ${rounds} conversations with the same beginning at this moment; repeat the request.`,
  );
}

type Meta = { readonly [key: string]: Json };

/**
 * Creates a redirect for a conversation that continues under another first message: an empty child session that is
 * found by its id, even after a restart.
 */
function createRedirect(target: Session, id: SessionId): Promise<Session> {
  return target.child({ id, meta: { gateway: { goesOnIn: target.id } } });
}

/** The session that a redirect points to; undefined for any other session. */
export function parseRedirect(meta: Meta | undefined): SessionId | undefined {
  const mark = meta?.gateway;
  const to = typeof mark === "object" && mark !== null && "goesOnIn" in mark ? mark.goesOnIn : undefined;
  return typeof to === "string" ? to : undefined;
}
