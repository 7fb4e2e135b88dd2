import { execFile } from "node:child_process";
import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { isWithin } from "../../model/base/join-inside.ts";
import type { HistoryPlace } from "../../model/session-origin.ts";
import type { FoundSource } from "../find-sources.ts";
import type { Format, System } from "../port/format.ts";
import { getSystem } from "./source-places.ts";

const GIT_TIMEOUT_MS = 5_000;
const run = promisify(execFile);

/**
 * Tells where histories lie: in their agent's own folder, in a working tree, where the authors of the repository may
 * have put them, or elsewhere, such as in a folder that somebody sent. Remembers the folders that it has looked at.
 */
export class SourceTrust {
  readonly #system: System;
  readonly #homes = new Map<Format, Promise<readonly string[]>>();
  readonly #trees = new Map<string, Promise<string | undefined>>();

  constructor(system: System = getSystem()) {
    this.#system = system;
  }

  async place({ format, source }: FoundSource): Promise<HistoryPlace> {
    const homes = await this.#findHomes(format);
    if (homes.some((home) => isWithin(source.path, home))) return "home";
    return (await this.findTree(source.path)) === undefined ? "elsewhere" : "working-tree";
  }

  /** The working tree around a path; undefined if there is none. */
  findTree(path: string): Promise<string | undefined> {
    const folder = dirname(path);
    const known = this.#trees.get(folder) ?? this.#lookForTree(folder);
    this.#trees.set(folder, known);
    return known;
  }

  async #lookForTree(folder: string): Promise<string | undefined> {
    if (await exists(join(folder, ".git"))) return folder;
    return folder === dirname(folder) ? undefined : this.findTree(folder);
  }

  #findHomes(format: Format): Promise<readonly string[]> {
    const homes = format.homes(this.#system).map((path) => realpath(path).catch(() => path));
    const known = this.#homes.get(format) ?? Promise.all(homes);
    this.#homes.set(format, known);
    return known;
  }
}

/**
 * True if git tracks a file, so that it came with the repository, and if git cannot say. No program that the
 * repository names is run: neither a hook nor a file system monitor.
 */
export async function isTracked(path: string): Promise<boolean> {
  const settings = ["core.fsmonitor=false", "core.hooksPath=/dev/null", "core.untrackedCache=false"];
  const args = [
    ...settings.flatMap((one) => ["-c", one]),
    "ls-files",
    "--error-unmatch",
    "--",
    basename(path),
  ];
  try {
    await run("git", args, { cwd: dirname(path), timeout: GIT_TIMEOUT_MS, windowsHide: true });
    return true;
  } catch (error) {
    // Git says 1 for a file that it does not know, and 128 if it refuses the repository.
    return (error as { readonly code?: unknown }).code !== 1;
  }
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
