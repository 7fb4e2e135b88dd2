import { BoundedMap } from "../../base/bounded-map.ts";

/** Maximum messages to remember: the tail that a compaction keeps begins within the last context window. */
const MAX_MESSAGES = 4096;

/** The record before each of the latest messages, by opencode's message id. */
export class RecentMessages {
  readonly #before = new BoundedMap<string, string | undefined>({ max: MAX_MESSAGES });

  has(message: string): boolean {
    return this.#before.has(message);
  }

  add(message: string, recordBefore: string | undefined): void {
    this.#before.set(message, recordBefore);
  }

  findRecordBefore(message: string): string | undefined {
    return this.#before.get(message);
  }
}
