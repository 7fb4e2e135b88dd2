import {
  type ProjectConversation,
  readConversations,
  selectProject,
} from "../conversation/project-conversations.ts";
import type { Kernel, SessionId } from "../index.ts";

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
