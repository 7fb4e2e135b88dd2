import { checkKind } from "../model/argument-checks.ts";
import { checkMessageParts, type Entry, type MessageBody } from "../model/entry.ts";
import { checkWholeNumber, createArgumentError, LonghaulError } from "../model/errors.ts";
import type { Closable } from "../model/lifetime.ts";
import type { MessageInput } from "../model/message.ts";
import type { PartInput } from "../model/part.ts";
import type { Log } from "./log.ts";

/** An edit of a past message that waits for confirmation. */
interface PendingEdit {
  readonly id: string;
  readonly seq: number;
  readonly message: MessageInput;
  readonly expiresAt: number;
}

/** The session whose messages are edited. */
interface EditedSession {
  entry(seq: number): Promise<Entry | undefined>;
  edit(seq: number, message: MessageInput): Promise<Entry<MessageBody>>;
}

/** A pending edit with its size and timer. */
interface HeldEdit {
  readonly edit: PendingEdit;
  readonly sizeBytes: number;
  readonly timer: NodeJS.Timeout;
}

/** Unconfirmed edits: limited in number, size and age, so that abandoned ones cost little. */
export class PendingEdits implements Closable {
  readonly #log: Log;
  readonly #session: EditedSession;
  readonly #held = new Map<string, HeldEdit>();
  /** Ids of edits that are being confirmed. */
  readonly #confirming = new Set<string>();
  #sizeBytes = 0;

  constructor(log: Log, session: EditedSession) {
    this.#log = log;
    this.#session = session;
  }

  /** Pending edits, oldest first. */
  list(): readonly PendingEdit[] {
    return [...this.#held.values()].map(({ edit }) => edit).filter(({ id }) => !this.#confirming.has(id));
  }

  /**
   * Keeps an edit until it is confirmed, canceled or expired. Rejects with ENTRY_NOT_FOUND if there is no such entry, and
   * with EDIT_LIMIT if too many or too large edits are pending.
   */
  async propose(seq: number, message: MessageInput): Promise<PendingEdit> {
    checkWholeNumber("seq", seq, 1);
    const sizeBytes = weighParts(checkMessageParts(message));
    if (!(await this.#session.entry(seq)))
      throw new LonghaulError("ENTRY_NOT_FOUND", `There is no entry ${seq} to edit.`, { details: { seq } });
    const { maxPendingEdits, maxPendingEditBytes, pendingEditMs } = this.#log.limits;
    if (this.#held.size >= maxPendingEdits || this.#sizeBytes + sizeBytes > maxPendingEditBytes) {
      throw new LonghaulError(
        "EDIT_LIMIT",
        `${this.#held.size} edits of ${this.#sizeBytes} bytes wait already (at most ${maxPendingEdits} and ${maxPendingEditBytes}); confirm or cancel one first.`,
      );
    }
    const id = this.#log.ids.next();
    const timer = setTimeout(() => this.#release(id), pendingEditMs).unref();
    const edit = { id, seq, message, expiresAt: this.#log.clock.now() + pendingEditMs };
    this.#held.set(id, { edit, sizeBytes, timer });
    this.#sizeBytes += sizeBytes;
    return edit;
  }

  /**
   * Executes the edit: the line continues from the new message. Throws EDIT_NOT_FOUND once it has expired. A
   * failed edit stays pending.
   */
  async confirm(id: string): Promise<Entry<MessageBody>> {
    const held = this.#held.get(checkKind("id", id, "text"));
    if (!held || this.#confirming.has(id))
      throw new LonghaulError(
        "EDIT_NOT_FOUND",
        `Edit ${id} is not waiting: it was confirmed, cancelled, or expired after ${this.#log.limits.pendingEditMs} ms. Propose it again.`,
      );
    this.#confirming.add(id);
    try {
      const entry = await this.#session.edit(held.edit.seq, held.edit.message);
      this.#release(id);
      return entry;
    } finally {
      this.#confirming.delete(id);
    }
  }

  /** Returns false if the edit was not pending. */
  cancel(id: string): boolean {
    return !this.#confirming.has(id) && this.#release(id);
  }

  close(): void {
    for (const id of [...this.#held.keys()]) this.#release(id);
  }

  #release(id: string): boolean {
    const held = this.#held.get(id);
    if (!held) return false;
    clearTimeout(held.timer);
    this.#held.delete(id);
    this.#sizeBytes -= held.sizeBytes;
    return true;
  }
}

/** Size of the parts; throws ARGUMENT_INVALID for a stream, whose size is unknown and which can be read only once. */
function weighParts(parts: readonly PartInput[]): number {
  let bytes = 0;
  for (const part of parts) {
    if (part.type === "tool-result" && typeof part.output !== "string") bytes += weighParts(part.output);
    else if (part.type !== "data") bytes += JSON.stringify(part).length;
    else if (typeof part.data === "string") bytes += part.data.length;
    else if (part.data instanceof Uint8Array) bytes += part.data.byteLength;
    else throw createArgumentError("data", "a stream", "base64 or bytes in an edit that waits");
  }
  return bytes;
}
