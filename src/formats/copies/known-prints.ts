import { fingerprintText } from "../content/fingerprint.ts";

/** Number of texts to remember: an event repeats text within a few lines. */
const MAX_TEXTS = 128;

/** Fingerprints of the latest texts. */
export class KnownTexts {
  readonly #prints: Set<string>;

  constructor(prints: readonly string[] = []) {
    this.#prints = new Set(prints);
  }

  add(text: string): void {
    if (text === "") return;
    const print = fingerprintText(text);
    this.#prints.delete(print);
    this.#prints.add(print);
    for (const oldest of this.#prints) {
      if (this.#prints.size <= MAX_TEXTS) break;
      this.#prints.delete(oldest);
    }
  }

  has(text: string): boolean {
    return this.#prints.has(fingerprintText(text));
  }

  toJSON(): readonly string[] {
    return [...this.#prints];
  }
}
