import type { Json } from "../../kernel/index.ts";
import { BoundedMap } from "../../model/base/caches.ts";
import { computeFingerprint } from "../../model/base/digest.ts";

/** Content of a file: its text while there is room, else only a fingerprint. */
interface FileContent {
  text?: string | undefined;
  gist?: string;
}

const MAX_FILES = 2_000;
const MAX_TEXT_LENGTH = 16 * 1024 * 1024;
const SAVED_FILES = 200;

/** Newest content of files that the log holds completely or that can be derived from the log. */
export class KnownContents {
  readonly #files: BoundedMap<string, FileContent>;
  /** Contents that still have their text, oldest first. */
  readonly #texts = new Set<FileContent>();
  #textLength = 0;

  constructor(saved: readonly (readonly [string, string])[] = []) {
    this.#files = new BoundedMap<string, FileContent>(
      { max: MAX_FILES },
      saved.map(([path, gist]) => [path, { gist }] as const),
    );
  }

  /** Tells whether a file is known to hold exactly this text. */
  has(path: string, text: string): boolean {
    const content = this.#files.get(path);
    if (!content) return false;
    return content.text === undefined ? content.gist === computeFingerprint(text) : content.text === text;
  }

  set(path: string, text: string): void {
    const before = this.#files.get(path);
    if (before) this.#drop(before);
    const content: FileContent = { text };
    this.#files.set(path, content);
    this.#texts.add(content);
    this.#textLength += text.length;
    for (const oldest of this.#texts) {
      if (this.#textLength <= MAX_TEXT_LENGTH) break;
      oldest.gist ??= computeFingerprint(oldest.text ?? "");
      this.#drop(oldest);
    }
  }

  /** Saves the newest files as fingerprints, without their texts. */
  toJSON(): Json {
    return this.#files.listNewest(SAVED_FILES).map(([path, content]) => {
      content.gist ??= computeFingerprint(content.text ?? "");
      return [path, content.gist];
    });
  }

  #drop(content: FileContent): void {
    if (this.#texts.delete(content)) this.#textLength -= content.text?.length ?? 0;
    content.text = undefined;
  }
}
