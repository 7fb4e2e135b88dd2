import { BoundedMap } from "../../model/base/caches.ts";
import { computeFingerprint } from "../../model/base/digest.ts";
import type { CopyEvidence } from "./copy-filter.ts";

/** Fingerprints of the latest texts of a source. */
export class KnownPrints implements CopyEvidence {
  readonly #prints: BoundedMap<string, true>;

  constructor(maxTexts: number, prints: readonly string[] = []) {
    this.#prints = new BoundedMap(
      { max: maxTexts },
      prints.map((print) => [print, true]),
    );
  }

  /** Remembers a text; returns false if it was known. */
  add(text: string): boolean {
    if (text === "") return false;
    const print = computeFingerprint(text);
    const isNew = !this.#prints.has(print);
    this.#prints.set(print, true);
    return isNew;
  }

  hasText(text: string): boolean {
    return this.#prints.has(computeFingerprint(text));
  }

  toJSON(): readonly string[] {
    return [...this.#prints.keys()];
  }
}
