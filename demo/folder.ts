import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UsageError } from "./options.ts";

/** A temporary folder that is removed on disposal unless it is kept. */
export class TemporaryFolder implements AsyncDisposable {
  readonly path: string;
  readonly #keep: boolean;

  constructor(keep: boolean) {
    this.#keep = keep;
    try {
      this.path = mkdtempSync(join(tmpdir(), "longhaul-marathon-"));
    } catch (cause) {
      throw new UsageError(`No folder can be made in ${tmpdir()}; let TMPDIR name one that can be written.`, {
        cause,
      });
    }
  }

  /** Closing remark: whether the folder is kept or removed. */
  get fate(): string {
    return this.#keep ? `folder kept: ${this.path}` : "temporary folder removed";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#keep) await rm(this.path, { recursive: true, force: true, maxRetries: 3 });
  }
}
