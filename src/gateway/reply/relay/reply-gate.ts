/** Sends bytes in order, and holds them back while the reply that they end is being stored. */
interface ReplyGate {
  /** True while so many bytes are held back that no more should be read. */
  readonly isFull: boolean;
  /** True while the reply is being stored. */
  readonly isWaiting: boolean;
  send(bytes: Uint8Array | string): void;
  /** Calls `next` when all bytes have been sent. */
  finish(next: () => void): void;
  /** Sends all bytes at once, because the reply is not complete. */
  release(): void;
}

/** Settings of a gate. */
interface ReplyGateOptions {
  readonly send: (bytes: Uint8Array | string) => void;
  /** Returns a promise while the reply is being stored. */
  readonly hold: () => Promise<void> | undefined;
  /** Keeps the last bytes until the end, for a body that is stored when it has been received. */
  readonly keepsLast: boolean;
  /** Called when the gate has opened again. */
  readonly onOpen: () => void;
}

const MAX_HELD_BYTES = 65_536;

/** Opens a gate in front of a client. */
export function openReplyGate(options: ReplyGateOptions): ReplyGate {
  return new StorageGate(options);
}

class StorageGate implements ReplyGate {
  readonly #options: ReplyGateOptions;
  #held: (Uint8Array | string)[] = [];
  #heldBytes = 0;
  #next: (() => void) | undefined;
  isWaiting = false;

  constructor(options: ReplyGateOptions) {
    this.#options = options;
  }

  get isFull(): boolean {
    return this.isWaiting && this.#heldBytes > MAX_HELD_BYTES;
  }

  send(bytes: Uint8Array | string): void {
    const { send, hold, keepsLast } = this.#options;
    if (this.#held.length === 0 && !this.isWaiting && !keepsLast && !hold()) send(bytes);
    else {
      this.#held.push(bytes);
      this.#heldBytes += Buffer.byteLength(bytes);
      if (!this.isWaiting) this.#pass();
    }
  }

  finish(next: () => void): void {
    this.#next = next;
    if (!this.isWaiting) this.#pass();
  }

  release(): void {
    this.#sendHeld(0);
  }

  #pass(): void {
    const { hold, keepsLast, onOpen } = this.#options;
    const storing = hold();
    if (storing) {
      if (this.isWaiting) return;
      this.isWaiting = true;
      void storing.then(() => {
        this.isWaiting = false;
        this.#pass();
        if (!this.isWaiting) onOpen();
      });
      return;
    }
    this.#sendHeld(keepsLast && !this.#next ? 1 : 0);
    const next = this.#next;
    this.#next = undefined;
    next?.();
  }

  #sendHeld(kept: number): void {
    while (this.#held.length > kept) {
      const bytes = this.#held.shift() as Uint8Array | string;
      this.#heldBytes -= Buffer.byteLength(bytes);
      this.#options.send(bytes);
    }
  }
}
