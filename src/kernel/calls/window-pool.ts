import type { SessionWindow } from "../index.ts";

/** A window in use by one call. */
export interface WindowLease {
  readonly window: SessionWindow;
  /** Returns the window for reuse. Idempotent, because two calls at once must never share a window. */
  readonly release: () => void;
}

/** How the windows of a pool are opened and compared. `Key` holds the facts that a window depends on. */
interface WindowPoolOptions<Frame, Key> {
  /** Maximum number of idle windows; concurrent calls open more. */
  readonly maxIdle: number;
  readonly open: (frame: Frame) => SessionWindow;
  readonly toKey: (frame: Frame) => Key;
  /** True if a window opened for one key suits the other. */
  readonly isSimilar: (one: Key, other: Key) => boolean;
}

/** The windows of a session: one for each call in progress, reused for the next similar one. */
export class WindowPool<Frame, Key> {
  readonly #options: WindowPoolOptions<Frame, Key>;
  #idle: { readonly key: Key; readonly window: SessionWindow }[] = [];

  constructor(options: WindowPoolOptions<Frame, Key>) {
    this.#options = options;
  }

  /** Takes a window for one call; reuses an idle one that matches. */
  take(frame: Frame): WindowLease {
    const { maxIdle, open, toKey, isSimilar } = this.#options;
    const wanted = toKey(frame);
    const index = this.#idle.findIndex(({ key }) => isSimilar(key, wanted));
    const [idle] = index < 0 ? [] : this.#idle.splice(index, 1);
    const { key, window } = idle ?? { key: wanted, window: open(frame) };
    let isTaken = true;
    const release = () => {
      if (!isTaken) return;
      isTaken = false;
      this.#idle = [{ key, window }, ...this.#idle].slice(0, maxIdle);
    };
    return { window, release };
  }

  /** A window that calls share; it is never fitted and only receives reported usage. */
  share(frame: Frame): WindowLease {
    const lease = this.take(frame);
    lease.release();
    return lease;
  }
}
