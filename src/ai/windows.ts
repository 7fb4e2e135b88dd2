import type { Json, Session, SessionWindow, SessionWindowOptions } from "../index.ts";

/** What every request of a call holds besides messages. */
export interface Frame {
  readonly model: string;
  readonly system: string;
  readonly tools: Json;
  readonly maxOutputTokens?: number | undefined;
}

/** Windows that wait for the next call; more calls at once open more. */
const MOST_IDLE = 4;

/** The windows of a session: one for each call that runs, kept for the next call of the same frame. */
export class Windows {
  readonly #session: Session;
  readonly #options: Omit<SessionWindowOptions, "model">;
  #idle: { readonly frame: string; readonly window: SessionWindow }[] = [];

  constructor(session: Session, options: Omit<SessionWindowOptions, "model">) {
    this.#session = session;
    this.#options = options;
  }

  /** A window for one call. */
  take(given: Frame): { readonly window: SessionWindow; readonly giveBack: () => void } {
    const frame = JSON.stringify(given);
    const index = this.#idle.findIndex((idle) => idle.frame === frame);
    const [idle] = index < 0 ? [] : this.#idle.splice(index, 1);
    const window = idle?.window ?? this.#open(given);
    const giveBack = () => {
      this.#idle = [{ frame, window }, ...this.#idle].slice(0, MOST_IDLE);
    };
    return { window, giveBack };
  }

  #open({ model, system, tools, maxOutputTokens }: Frame): SessionWindow {
    // What a caller lets the model say counts against the window of most providers.
    const output = maxOutputTokens === undefined ? {} : { maxOutputTokens };
    return this.#session.window({ ...this.#options, model, system, tools, ...output });
  }
}
