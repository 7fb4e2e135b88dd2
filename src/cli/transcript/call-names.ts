/** Maximum calls to remember; results follow their calls closely. */
const MAX_CALLS = 1_000;

/** Remembers the tool names of the latest calls. */
export class CallNames {
  readonly #names = new Map<string, string>();

  set(callId: string, name: string): void {
    this.#names.set(callId, name);
    if (this.#names.size <= MAX_CALLS) return;
    const [oldest] = this.#names.keys();
    if (oldest !== undefined) this.#names.delete(oldest);
  }

  get(callId: string): string | undefined {
    return this.#names.get(callId);
  }
}
