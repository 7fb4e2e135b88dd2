/** How many messages are remembered: what a compaction keeps begins within the last context window. */
const MAX_MESSAGES = 4096;

/** Which record stood before each of the last messages, by opencode's id of the message. */
export class RecentMessages {
  readonly #before = new Map<string, string | undefined>();

  has(message: string): boolean {
    return this.#before.has(message);
  }

  add(message: string, recordBefore: string | undefined): void {
    this.#before.set(message, recordBefore);
    if (this.#before.size <= MAX_MESSAGES) return;
    const [oldest] = this.#before.keys();
    this.#before.delete(oldest as string);
  }

  recordBefore(message: string): string | undefined {
    return this.#before.get(message);
  }
}
