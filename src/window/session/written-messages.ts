import type { Entry, MessageBody, SessionId } from "../../model/entry.ts";

/** Messages that were just appended to a session one after the other, so that they need not be read from its store. */
export class WrittenMessages {
  readonly #entries: readonly Entry<MessageBody>[];

  /** Entries with gaps between them are left to the store. */
  constructor(entries: readonly Entry<MessageBody>[], session: SessionId) {
    const first = entries[0]?.seq ?? 0;
    const isRow = entries.every((entry, index) => entry.session === session && entry.seq === first + index);
    this.#entries = isRow ? entries : [];
  }

  /** Seq of the last one; undefined if there are none. */
  get last(): number | undefined {
    return this.#entries.at(-1)?.seq;
  }

  /** The messages after `seq` if it is the one before them, else none. */
  listAfter(seq: number): readonly Entry<MessageBody>[] {
    return this.#entries[0]?.seq === seq + 1 ? this.#entries : [];
  }

  /** The messages from `from` to `to`, newest first; none unless `to` is one of them. */
  listNewest(from: number, to: number): readonly Entry<MessageBody>[] {
    const first = this.#entries[0]?.seq;
    if (first === undefined || to < first || to > (this.last as number)) return [];
    return this.#entries.slice(Math.max(0, from - first), to - first + 1).reverse();
  }
}
