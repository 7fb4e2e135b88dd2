import { type Kernel, openKernel, type Session } from "../../../src/kernel/index.ts";
import type { BenchMessage, Contestant, Conversation } from "../../peers/contestant.ts";
import { Random } from "../../random.ts";

/** The single session of a bench store. */
export const SESSION_ID = "bench";

/** The file of a store that contains its entries. */
export const LOG_FILE = "log.db";

/** longhaul through its public API. */
export const longhaul: Contestant = {
  name: "longhaul",
  async open(folder) {
    const kernel = await openKernel({ path: folder, clock: new BenchClock() });
    return new LonghaulConversation(kernel, await kernel.session(SESSION_ID));
  },
};

/**
 * A clock that advances as in a real conversation: seconds between messages, and occasional pauses of up to hours. The
 * bench appends thousands of messages per second, which would make lookups by time unrealistic.
 */
export class BenchClock {
  readonly #random = new Random(7);
  #nowMs = Date.UTC(2025, 0, 1);

  now(): number {
    const isPause = this.#random.next() < 0.02;
    this.#nowMs += this.#random.between(500, isPause ? 4 * 3_600_000 : 20_000);
    return this.#nowMs;
  }
}

class LonghaulConversation implements Conversation {
  readonly #kernel: Kernel;
  readonly #session: Session;

  constructor(kernel: Kernel, session: Session) {
    this.#kernel = kernel;
    this.#session = session;
  }

  async append({ role, text }: BenchMessage): Promise<void> {
    await this.#session.append({ role, text });
  }

  async appendMany(messages: readonly BenchMessage[]): Promise<void> {
    await Promise.all(messages.map(({ role, text }) => this.#session.append({ role, text })));
  }

  async appendImage(bytes: Uint8Array, mime: string): Promise<void> {
    const data = Buffer.from(bytes).toString("base64");
    await this.#session.append({ role: "user", parts: [{ type: "data", data, mime }] });
  }

  async last(count: number): Promise<readonly string[]> {
    const { entries } = await this.#session.page({ limit: count });
    return entries.map((entry) => {
      const part = entry.kind === "message" ? entry.message.parts[0] : undefined;
      return part?.type === "text" ? part.text : "";
    });
  }

  async close(): Promise<void> {
    await this.#kernel.close();
  }
}
