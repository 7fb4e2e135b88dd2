import { Conversation } from "../../conversation/conversation.ts";
import type { LineMessage } from "../../conversation/known-line.ts";
import { objectOf } from "../../formats/content/fields.ts";
import { type EntryId, isLonghaulError, type Kernel, type SessionId } from "../../index.ts";
import { keyOf } from "../thread/stored.ts";
import type { Thread } from "../thread/thread.ts";
import { summaryKey } from "./summary.ts";

/** The position of a summary. */
export interface KnownCompaction {
  /** The conversation that was summarized. */
  readonly session: SessionId;
  /** The last message covered by the summary. */
  readonly behind: EntryId;
}

interface Remembered extends KnownCompaction {
  readonly thread?: WeakRef<Thread>;
}

const MOST = 1_000;

/**
 * The summaries that clients received, by their text: a client that has nothing else left continues the same
 * conversation. The position is also stored with the session, as an intake named after the summary, so that it is found
 * after a restart.
 */
export class KnownCompactions {
  readonly #kernel: Kernel;
  /** Most recently used last. */
  readonly #known = new Map<string, Remembered>();

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** The position of a summary; undefined for a summary made elsewhere. */
  async find(principal: string, text: string): Promise<KnownCompaction | undefined> {
    const name = nameOf(principal, text);
    const known = this.#known.get(name) ?? (await this.#kept(name));
    if (known) this.#remember(name, known);
    return known;
  }

  /** The messages of the conversation up to that position; undefined if the line no longer contains it. */
  async lineOf(
    principal: string,
    text: string,
    { session: id, behind }: KnownCompaction,
  ): Promise<readonly LineMessage[] | undefined> {
    const thread = this.#known.get(nameOf(principal, text))?.thread?.deref();
    if (thread && !thread.isClosed) return upTo(await thread.line(), behind);
    await using session = await this.#kernel.session(id);
    return upTo((await new Conversation(session, keyOf).line()).messages, behind);
  }

  /** Stores the position of a summary, before the client gets it. */
  async tell(principal: string, text: string, thread: Thread, behind: EntryId): Promise<void> {
    const before = await this.find(principal, text);
    const { session } = thread;
    this.met(principal, text, behind, thread);
    if (before?.session === session.id && before.behind === behind) return;
    const name = nameOf(principal, text);
    try {
      const intake = (await this.#kernel.intake(name)) ?? (await session.intake(name));
      // If two conversations have the same summary, the first one stays known after a restart.
      if (intake.session === session.id) await intake.save({ checkpoint: { behind } });
    } catch (error) {
      // Another writer has stored the same summary at the same moment.
      if (!isLonghaulError(error, "INTAKE_CONFLICT") && !isLonghaulError(error, "ARGUMENT_INVALID"))
        throw error;
    }
  }

  /** Remembers the thread of a summary, so that its line need not be read again. */
  met(principal: string, text: string, behind: EntryId, thread: Thread): void {
    const known = { session: thread.session.id, behind, thread: new WeakRef(thread) };
    this.#remember(nameOf(principal, text), known);
  }

  async #kept(name: string): Promise<KnownCompaction | undefined> {
    const intake = await this.#kernel.intake(name);
    const behind = objectOf(intake?.checkpoint)?.behind;
    return intake && typeof behind === "string" ? { session: intake.session, behind } : undefined;
  }

  #remember(name: string, known: Remembered): void {
    this.#known.delete(name);
    this.#known.set(name, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST && oldest !== undefined) this.#known.delete(oldest);
  }
}

/** Includes the principal, so that principals never share summaries. */
function nameOf(principal: string, text: string): string {
  return `gateway compaction ${principal} ${summaryKey(text)}`;
}

function upTo(line: readonly LineMessage[], last: EntryId): readonly LineMessage[] | undefined {
  const place = line.findLastIndex(({ id }) => id === last);
  return place < 0 ? undefined : line.slice(0, place + 1);
}
