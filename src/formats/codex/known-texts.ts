import { fingerprint } from "../content/fingerprint.ts";

/** How many texts are remembered. An event repeats what was said a few lines before or after it. */
const MAX_TEXTS = 128;

/** The texts seen last, by their fingerprints. */
export class KnownTexts {
  readonly #prints: Set<string>;

  constructor(prints: readonly string[] = []) {
    this.#prints = new Set(prints);
  }

  add(text: string): void {
    if (text === "") return;
    const print = fingerprint(text);
    this.#prints.delete(print);
    this.#prints.add(print);
    for (const oldest of this.#prints) {
      if (this.#prints.size <= MAX_TEXTS) break;
      this.#prints.delete(oldest);
    }
  }

  has(text: string): boolean {
    return this.#prints.has(fingerprint(text));
  }

  toJSON(): readonly string[] {
    return [...this.#prints];
  }
}
