import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Kernel, Session, SessionId, SessionOptions } from "../../index.ts";
import { listPersonIds } from "../identity/person-ids.ts";
import { buildRootId, type CallerIdentity } from "../identity/session-ids.ts";
import { createRedirect } from "./redirect.ts";
import { encodeThreadMeta, type ThreadMeta } from "./thread-meta.ts";

/** Maximum number of conversations with the same beginning that are found again after a restart. */
const MAX_SIMILAR = 32;

/** The root sessions of a family, named by the caller, the first message and an ordinal. */
export class FamilyRoots {
  readonly #kernel: Kernel;
  readonly #caller: CallerIdentity;
  readonly #firstKey: string;
  /** First messages whose conversations have been looked up in the store. */
  readonly #searchedKeys = new Set<string>();
  #roots: Session[] = [];

  constructor(kernel: Kernel, caller: CallerIdentity, firstKey: string) {
    this.#kernel = kernel;
    this.#caller = caller;
    this.#firstKey = firstKey;
  }

  get sessions(): readonly Session[] {
    return this.#roots;
  }

  /** True if conversations with this first message must be looked up; only the first time. */
  isNewSearch(firstKey: string): boolean {
    if (this.#searchedKeys.has(firstKey) || this.#searchedKeys.size >= MAX_SIMILAR) return false;
    this.#searchedKeys.add(firstKey);
    return true;
  }

  /** Opens the stored roots that are not open yet; another gateway may add some at any time. */
  async openStored(): Promise<void> {
    const maxRoots = this.#caller.explicit === undefined ? MAX_SIMILAR : 1;
    for (const person of listPersonIds(this.#caller.principal)) {
      for (let ordinal = 1; this.#roots.length < maxRoots; ordinal++) {
        const id = buildRootId(this.#caller, this.#firstKey, ordinal, person);
        if (this.has(id)) continue;
        if (!(await this.#kernel.find(id))) break;
        this.#roots.push(await this.#kernel.session(id));
      }
    }
  }

  /** Creates the only root of an explicit id; undefined if it exists already, or if another gateway has just begun it. */
  async createOnly(build: (id: SessionId) => SessionOptions): Promise<Session | undefined> {
    const id = this.#idOf(1);
    if (this.#roots.length > 0 || (await this.#kernel.find(id))) return undefined;
    const options = build(id);
    const root = await this.#kernel.session(id, options);
    this.#roots.push(root);
    const { meta } = await root.record();
    return isDeepStrictEqual(meta, options.meta) ? root : undefined;
  }

  /** The only root of an explicit id, which may have a former id of its person. */
  async open(): Promise<Session> {
    const [first] = this.#roots;
    if (first) return first;
    const root = await this.#kernel.session(this.#idOf(1));
    this.#roots.push(root);
    return root;
  }

  /** The id of the next new root. */
  get freeId(): SessionId {
    return this.#idOf(this.#findFreeOrdinal());
  }

  /** Creates a root; undefined if another gateway has just taken the id for a conversation of its own. */
  async create(id: SessionId, meta: ThreadMeta, title: string | undefined): Promise<Session | undefined> {
    const claim = randomUUID();
    const root = await this.#kernel.session(id, {
      meta: encodeThreadMeta(meta, claim),
      ...(title !== undefined && { title }),
    });
    const stored = (await root.record()).meta?.gateway as { readonly claim?: unknown } | undefined;
    if (stored?.claim !== claim) {
      await root.close();
      return undefined;
    }
    this.#roots.push(root);
    return root;
  }

  /** Adds a root that points to a conversation of another family. */
  async addRedirect(to: Session): Promise<void> {
    this.#roots.push(await createRedirect(to, this.#idOf(this.#findFreeOrdinal())));
  }

  has(id: SessionId): boolean {
    return this.#roots.some((root) => root.id === id);
  }

  /** Drops a root whose session was deleted. */
  remove(id: SessionId): void {
    this.#roots = this.#roots.filter((root) => root.id !== id);
  }

  #idOf(ordinal: number): SessionId {
    return buildRootId(this.#caller, this.#firstKey, ordinal);
  }

  /** The first ordinal that is not in use here; ordinals of deleted conversations are free again. */
  #findFreeOrdinal(): number {
    const taken = new Set(this.#roots.map((root) => root.id));
    let ordinal = 1;
    while (taken.has(this.#idOf(ordinal))) ordinal++;
    return ordinal;
  }
}
