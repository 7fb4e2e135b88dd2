import { realpathSync } from "node:fs";

/** Commits of all connections of this process to one file. */
interface SharedCount {
  commits: number;
  connections: number;
}

const counts = new Map<string, SharedCount>();

/**
 * Tells a connection of the commits of other connections of this process to the same file, which may happen within one
 * tick; other processes can be asked about once a tick.
 */
export class FileCommits {
  /** Undefined for a database in memory, which has one connection. */
  readonly #path: string | undefined;
  readonly #shared: SharedCount;
  #seen: number;

  constructor(path: string) {
    this.#path = path === ":memory:" ? undefined : realpathSync(path);
    const known = this.#path === undefined ? undefined : counts.get(this.#path);
    this.#shared = known ?? { commits: 0, connections: 0 };
    this.#shared.connections++;
    this.#seen = this.#shared.commits;
    if (this.#path !== undefined) counts.set(this.#path, this.#shared);
  }

  /** Counts a commit of the own connection. */
  add(): void {
    const isCurrent = this.#seen === this.#shared.commits;
    this.#shared.commits++;
    if (isCurrent) this.#seen++;
  }

  /** True if others have committed since the last call. */
  takeOthers(): boolean {
    if (this.#seen === this.#shared.commits) return false;
    this.#seen = this.#shared.commits;
    return true;
  }

  close(): void {
    this.#shared.connections--;
    if (this.#path !== undefined && this.#shared.connections === 0) counts.delete(this.#path);
  }
}
