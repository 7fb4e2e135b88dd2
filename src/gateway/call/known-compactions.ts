import { BoundedMap } from "../../base/bounded-map.ts";
import { Conversation } from "../../conversation/conversation.ts";
import type { LineMessage } from "../../conversation/line-cache.ts";
import type { EntryId, Kernel, SessionId } from "../../index.ts";
import { toObject } from "../../wire/fields.ts";
import { getMessageKey } from "../identity/message-key.ts";
import { listPersonIds, type PersonIds } from "../identity/person-ids.ts";
import { buildSummaryKey } from "../request/client-summary-text.ts";
import type { Thread } from "../thread/thread.ts";

/** The position of a summary. */
interface SummaryPosition {
  /** The conversation that was summarized. */
  readonly session: SessionId;
  /** The last message covered by the summary. */
  readonly afterEntry: EntryId;
}

interface KnownSummaryPosition extends SummaryPosition {
  readonly thread?: WeakRef<Thread>;
}

const MAX_KNOWN = 1_000;

/**
 * The summaries that clients received, by their text: a client that has nothing else left continues the same
 * conversation. The position is also stored as a fact of the session, named after the summary, so that it is found after a
 * restart.
 */
export class KnownCompactions {
  readonly #kernel: Kernel;
  readonly #known = new BoundedMap<string, KnownSummaryPosition>({ max: MAX_KNOWN });

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** The position of a summary; undefined for a summary made elsewhere. */
  async find(principal: PersonIds, text: string): Promise<SummaryPosition | undefined> {
    const name = buildFactName(principal.id, text);
    const known = this.#known.get(name) ?? (await this.#readStored(principal, text));
    if (known) this.#known.set(name, known);
    return known;
  }

  /** The messages of the conversation up to that position; undefined if the line no longer contains it. */
  async readLine(
    principal: PersonIds,
    text: string,
    { session: id, afterEntry }: SummaryPosition,
  ): Promise<readonly LineMessage[] | undefined> {
    const thread = this.#known.get(buildFactName(principal.id, text))?.thread?.deref();
    if (thread && !thread.isClosed) return sliceUpTo(await thread.line(), afterEntry);
    await using session = await this.#kernel.session(id);
    return sliceUpTo((await new Conversation(session, getMessageKey).readLine()).messages, afterEntry);
  }

  /** Stores the position of a summary, before the client gets it. */
  async store(principal: PersonIds, text: string, thread: Thread, afterEntry: EntryId): Promise<void> {
    const before = await this.find(principal, text);
    const { session } = thread;
    this.remember(principal, text, afterEntry, thread);
    if (before?.session === session.id && before.afterEntry === afterEntry) return;
    const name = buildFactName(principal.id, text);
    // If two conversations have the same summary, the first one stays known after a restart.
    await session.facts.claim(name, { behind: afterEntry });
  }

  /** Remembers the thread of a summary, so that its line need not be read again. */
  remember(principal: PersonIds, text: string, afterEntry: EntryId, thread: Thread): void {
    const known = { session: thread.session.id, afterEntry, thread: new WeakRef(thread) };
    this.#known.set(buildFactName(principal.id, text), known);
  }

  async #readStored(principal: PersonIds, text: string): Promise<SummaryPosition | undefined> {
    for (const id of listPersonIds(principal)) {
      const fact = await this.#kernel.findFact(buildFactName(id, text));
      const afterEntry = toObject(fact?.value)?.behind;
      if (fact && typeof afterEntry === "string") return { session: fact.session, afterEntry };
    }
    return undefined;
  }
}

/** Includes the principal, so that principals never share summaries. */
function buildFactName(principal: string, text: string): string {
  return `gateway compaction ${principal} ${buildSummaryKey(text)}`;
}

function sliceUpTo(line: readonly LineMessage[], last: EntryId): readonly LineMessage[] | undefined {
  const place = line.findLastIndex(({ id }) => id === last);
  return place < 0 ? undefined : line.slice(0, place + 1);
}
