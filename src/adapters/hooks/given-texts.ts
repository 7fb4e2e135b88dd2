import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { BoundedMap } from "../../model/base/caches.ts";
import { computeDigest } from "../../model/base/digest.ts";

const DIGITS = 24;
/** The end of a file that counts: the newest 8,000 texts. */
const MAX_BYTES = 200_000;
/** Conversations that were quiet for longer are forgotten. */
const MAX_AGE_MS = 60 * 86_400_000;

/**
 * The texts that conversations already have, as digests in one small file for each conversation, because every hook may
 * be a process of its own.
 */
export class GivenTexts {
  readonly #folder: string;
  /** Texts of a store that cannot be written, for as long as this process runs. */
  readonly #unwritten = new BoundedMap<string, ReadonlySet<string>>({ max: 200 });

  constructor(folder: string) {
    this.#folder = join(folder, "hooks");
  }

  /** Returns a test for texts that a conversation already has. */
  look(conversation: string): (text: string) => boolean {
    const known = this.#read(conversation);
    const unwritten = this.#unwritten.use(conversation);
    return (text) => {
      const digest = computeDigest(text, DIGITS);
      return known.has(digest) || unwritten?.has(digest) === true;
    };
  }

  keep(conversation: string, texts: readonly string[]): void {
    const digests = texts.map((text) => computeDigest(text, DIGITS));
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      appendFileSync(this.#path(conversation), `${digests.join("\n")}\n`, { mode: 0o600 });
    } catch {
      this.#unwritten.set(conversation, new Set([...(this.#unwritten.use(conversation) ?? []), ...digests]));
    }
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
      return new Set(readFileSync(this.#path(conversation), "utf8").slice(-MAX_BYTES).split("\n"));
    } catch {
      return new Set();
    }
  }

  #path(conversation: string): string {
    return join(this.#folder, `${computeDigest(conversation, DIGITS)}.given`);
  }
}
