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
export function openReplyGate({ send, hold, keepsLast, onOpen }: ReplyGateOptions): ReplyGate {
  let held: (Uint8Array | string)[] = [];
  let heldBytes = 0;
  let isWaiting = false;
  let next: (() => void) | undefined;

  const sendHeld = (kept: number) => {
    while (held.length > kept) {
      const bytes = held.shift() as Uint8Array | string;
      heldBytes -= Buffer.byteLength(bytes);
      send(bytes);
    }
  };
  const pass = () => {
    const storing = hold();
    if (storing) {
      if (isWaiting) return;
      isWaiting = true;
      void storing.then(() => {
        isWaiting = false;
        pass();
        if (!isWaiting) onOpen();
      });
      return;
    }
    sendHeld(keepsLast && !next ? 1 : 0);
    next?.();
  };
  return {
    get isFull() {
      return isWaiting && heldBytes > MAX_HELD_BYTES;
    },
    get isWaiting() {
      return isWaiting;
    },
    send(bytes) {
      if (held.length === 0 && !isWaiting && !keepsLast && !hold()) return send(bytes);
      held.push(bytes);
      heldBytes += Buffer.byteLength(bytes);
      if (!isWaiting) pass();
    },
    finish(done) {
      next = () => {
        next = undefined;
        done();
      };
      if (!isWaiting) pass();
    },
    release() {
      sendHeld(0);
      held = [];
    },
  };
}
