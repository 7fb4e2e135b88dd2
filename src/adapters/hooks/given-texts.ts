import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { computeDigest } from "../../model/base/digest.ts";

const DIGITS = 24;
const MAX_BYTES = 200_000;
/** Conversations that were quiet for longer are forgotten. */
const MAX_AGE_MS = 60 * 86_400_000;

/**
 * The texts that conversations have got, as digests in one small file for each conversation, because every hook may be a
 * process of its own.
 */
export class GivenTexts {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = join(folder, "hooks");
  }

  /** Returns a test for texts that a conversation has got. */
  look(conversation: string): (text: string) => boolean {
    const known = this.#read(conversation);
    return (text) => known.has(computeDigest(text, DIGITS));
  }

  keep(conversation: string, texts: readonly string[]): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const lines = texts.map((text) => `${computeDigest(text, DIGITS)}\n`).join("");
    appendFileSync(this.#path(conversation), lines, { mode: 0o600 });
  }

  /** Removes the files of conversations that ended long ago. */
  prune(now = Date.now()): void {
    try {
      for (const name of readdirSync(this.#folder)) {
        const path = join(this.#folder, name);
        if (name.endsWith(".given") && now - statSync(path).mtimeMs > MAX_AGE_MS) rmSync(path);
      }
    } catch {
      // There is no such folder yet, or another process removes the same file.
    }
  }

  #read(conversation: string): ReadonlySet<string> {
    try {
      const path = this.#path(conversation);
      return statSync(path).size > MAX_BYTES ? new Set() : new Set(readFileSync(path, "utf8").split("\n"));
    } catch {
      return new Set();
    }
  }

  #path(conversation: string): string {
    return join(this.#folder, `${computeDigest(conversation, DIGITS)}.given`);
  }
}
