import { Lines } from "../log/lines.ts";
import type { Log } from "../log/log.ts";
import type { SessionId } from "../model/entry.ts";
import { isLonghaulError } from "../model/errors.ts";
import { findRangeIndex, type Line } from "../model/line.ts";

/** The active lines of the sessions that one recall meets. */
export class ActiveLines {
  readonly #log: Log;
  readonly #lines = new Map<SessionId, Line>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** True if an entry is on the active line of its session, that is, was not rewound, replaced or removed. */
  async has(session: SessionId, seq: number): Promise<boolean> {
    const line = this.#lines.get(session) ?? (await this.#read(session));
    this.#lines.set(session, line);
    return findRangeIndex(line, session, seq) >= 0;
  }

  async #read(session: SessionId): Promise<Line> {
    try {
      return (await new Lines(this.#log, session).active()).line;
    } catch (error) {
      if (isLonghaulError(error, "SESSION_NOT_FOUND")) return [];
      throw error;
    }
  }
}
