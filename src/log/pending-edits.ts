import { inputParts } from "../model/check-message.ts";
import type { Entry, MessageBody } from "../model/entry.ts";
import { LonghaulError } from "../model/errors.ts";
import type { MessageInput } from "../model/message.ts";
import type { Closable } from "../model/scope.ts";
import type { Lines } from "./lines.ts";
import type { Log } from "./log.ts";

/** An edit of a past message that waits for its confirmation. */
export interface PendingEdit {
  readonly id: string;
  readonly seq: number;
  readonly message: MessageInput;
  readonly expiresAt: number;
}

/** Edits proposed but not yet confirmed: few, small and short-lived, so that forgotten ones cost nothing. */
export class PendingEdits implements Closable {
  readonly #log: Log;
  readonly #lines: Lines;
  readonly #held = new Map<
    string,
    PendingEdit & { readonly sizeBytes: number; readonly timer: NodeJS.Timeout }
  >();
  #sizeBytes = 0;

  constructor(log: Log, lines: Lines) {
    this.#log = log;
    this.#lines = lines;
  }

  /** Edits waiting now, oldest first. */
  list(): readonly PendingEdit[] {
    return [...this.#held.values()].map(({ id, seq, message, expiresAt }) => ({
      id,
      seq,
      message,
      expiresAt,
    }));
  }

  /** Remembers an edit until it is confirmed, cancelled or expired. EDIT_LIMIT when too many or too large ones wait. */
  propose(seq: number, message: MessageInput): PendingEdit {
    const { maxPendingEdits, maxPendingEditBytes, pendingEditMs } = this.#log.limits;
    const sizeBytes = weigh(message);
    if (this.#held.size >= maxPendingEdits || this.#sizeBytes + sizeBytes > maxPendingEditBytes) {
      throw new LonghaulError(
        "EDIT_LIMIT",
        `${this.#held.size} edits of ${this.#sizeBytes} bytes wait already (at most ${maxPendingEdits} and ${maxPendingEditBytes}); confirm or cancel one first.`,
      );
    }
    const id = this.#log.ids.next();
    const timer = setTimeout(() => this.cancel(id), pendingEditMs).unref();
    const edit = { id, seq, message, expiresAt: this.#log.clock.now() + pendingEditMs };
    this.#held.set(id, { ...edit, sizeBytes, timer });
    this.#sizeBytes += sizeBytes;
    return edit;
  }

  /** Carries the edit out: the line goes on from the new message. EDIT_NOT_FOUND once it has expired. */
  async confirm(id: string): Promise<Entry<MessageBody>> {
    const edit = this.#held.get(id);
    if (!edit)
      throw new LonghaulError(
        "EDIT_NOT_FOUND",
        `Edit ${id} is not waiting: it was confirmed, cancelled, or expired after ${this.#log.limits.pendingEditMs} ms. Propose it again.`,
      );
    this.cancel(id);
    return this.#lines.edit(await this.#lines.placeOf(edit.seq), edit.message);
  }

  /** False if it was not waiting. */
  cancel(id: string): boolean {
    const edit = this.#held.get(id);
    if (!edit) return false;
    clearTimeout(edit.timer);
    this.#held.delete(id);
    this.#sizeBytes -= edit.sizeBytes;
    return true;
  }

  close(): void {
    for (const id of [...this.#held.keys()]) this.cancel(id);
  }
}

function weigh(message: MessageInput): number {
  let bytes = 0;
  for (const part of inputParts(message)) {
    if (part.type !== "data") bytes += JSON.stringify(part).length;
    else if (typeof part.data === "string") bytes += part.data.length;
    else if (part.data instanceof Uint8Array) bytes += part.data.byteLength;
  }
  return bytes;
}
