import { WindowPool } from "../conversation/window-pool.ts";
import type { Json, Session, SessionWindowOptions } from "../index.ts";

/** The parts of a request other than its messages. */
export interface CallFrame {
  readonly model: string;
  readonly system: string;
  readonly tools: Json;
  readonly maxOutputTokens?: number | undefined;
}

/** The windows of a session for AI SDK calls; calls with the same frame reuse a window. */
export type SdkWindows = WindowPool<CallFrame, string>;

const MAX_IDLE = 4;

/** Creates the windows of a session. */
export function createSdkWindows(session: Session, options: Omit<SessionWindowOptions, "model">): SdkWindows {
  return new WindowPool({
    maxIdle: MAX_IDLE,
    toKey: (frame: CallFrame) => JSON.stringify(frame),
    isSimilar: (one, other) => one === other,
    open({ model, system, tools, maxOutputTokens }) {
      // Most providers count the requested output against the window.
      const output = maxOutputTokens === undefined ? {} : { maxOutputTokens };
      return session.window({ ...options, model, system, tools, ...output });
    },
  });
}
