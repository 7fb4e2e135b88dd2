import { fingerprintText } from "../content/fingerprint.ts";
import type { CopyEvidence } from "./copy-filter.ts";

/** Fingerprints of the latest texts of a source. */
export class KnownPrints implements CopyEvidence {
  readonly #maxTexts: number;
  readonly #prints: Set<string>;

  constructor(maxTexts: number, prints: readonly string[] = []) {
    this.#maxTexts = maxTexts;
    this.#prints = new Set(prints);
  }

  /** Remembers a text; returns false if it was known. */
  add(text: string): boolean {
    if (text === "") return false;
    const print = fingerprintText(text);
    const isNew = !this.#prints.delete(print);
    this.#prints.add(print);
    for (const oldest of this.#prints) {
      if (this.#prints.size <= this.#maxTexts) break;
      this.#prints.delete(oldest);
    }
    return isNew;
  }

  hasText(text: string): boolean {
    return this.#prints.has(fingerprintText(text));
  }

  toJSON(): readonly string[] {
    return [...this.#prints];
  }
}
