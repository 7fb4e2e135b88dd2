import type { Json, Session, SessionWindow, SessionWindowOptions } from "../index.ts";

/** The parts of a request other than its messages. */
export interface CallFrame {
  readonly model: string;
  readonly system: string;
  readonly tools: Json;
  readonly maxOutputTokens?: number | undefined;
}

/** Maximum number of idle windows; additional concurrent calls open more. */
const MAX_IDLE = 4;

/** The windows of a session: one per running call, kept for the next call with the same frame. */
export class WindowPool {
  readonly #session: Session;
  readonly #options: Omit<SessionWindowOptions, "model">;
  #idle: { readonly frame: string; readonly window: SessionWindow }[] = [];

  constructor(session: Session, options: Omit<SessionWindowOptions, "model">) {
    this.#session = session;
    this.#options = options;
  }

  /** Takes a window for one call; `giveBack` returns it for reuse, once. */
  take(given: CallFrame): { readonly window: SessionWindow; readonly giveBack: () => void } {
    const frame = JSON.stringify(given);
    const index = this.#idle.findIndex((idle) => idle.frame === frame);
    const [idle] = index < 0 ? [] : this.#idle.splice(index, 1);
    const window = idle?.window ?? this.#open(given);
    let isTaken = true;
    const giveBack = () => {
      // Two calls at once must never share a window.
      if (!isTaken) return;
      isTaken = false;
      this.#idle = [{ frame, window }, ...this.#idle].slice(0, MAX_IDLE);
    };
    return { window, giveBack };
  }

  #open({ model, system, tools, maxOutputTokens }: CallFrame): SessionWindow {
    // Most providers count the requested output against the window.
    const output = maxOutputTokens === undefined ? {} : { maxOutputTokens };
    return this.#session.window({ ...this.#options, model, system, tools, ...output });
  }
}
