import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Children } from "./child.ts";
import type { ChildTask } from "./child-job.ts";
import { writeCorpus } from "./corpus-writer.ts";
import { ensurePeers, type PeerName, type Peers } from "./peers/install.ts";
import type { Progress } from "./progress.ts";

/** One run of a bench: its temporary folder, child processes, peers and failures. */
export class Bench {
  /** Whether to use smaller counts. */
  readonly isQuick: boolean;
  /** Removed with its content when the bench ends. */
  readonly folder = mkdtempSync(join(tmpdir(), "longhaul-bench-"));
  readonly #progress: Progress;
  readonly #corpusFolder: string;
  readonly #children: Children;
  readonly #made = new Map<string, Promise<unknown>>();
  #failures = 0;

  constructor(isQuick: boolean, progress: Progress) {
    this.isQuick = isQuick;
    this.#progress = progress;
    this.#corpusFolder = join(this.folder, "corpus");
    this.#children = new Children(this.folder, this.#corpusFolder);
  }

  /** Writes the corpus for the children; call once, after exit handlers that close the bench are installed. */
  prepare(): void {
    writeCorpus(this.#corpusFolder);
  }

  /** Number of measurements that failed. */
  get failures(): number {
    return this.#failures;
  }

  /** Runs `task`, an export of the module at `moduleUrl`, in a child process; a terminal shows `step`. */
  child<Input, Output>(
    step: string,
    moduleUrl: string,
    task: ChildTask<Input, Output>,
    input: Input,
    nodeFlags: readonly string[] = [],
  ): Promise<Output> {
    this.#progress.step(step);
    return this.#children.run(moduleUrl, task, input, nodeFlags);
  }

  /** Measures a peer; returns null, with the reason on stderr, if that is not possible. */
  async beside<Output>(peer: string, measure: () => Promise<Output>): Promise<Output | null> {
    if (!(await this.#hasPeer(peer))) return null;
    try {
      return await measure();
    } catch (error) {
      this.fail(peer, error);
      return null;
    }
  }

  /** Creates a value that several measurements share, on first use. */
  once<T>(name: string, make: () => Promise<T>): Promise<T> {
    const made = (this.#made.get(name) as Promise<T> | undefined) ?? make();
    this.#made.set(name, made);
    return made;
  }

  /** Prints a line on stderr. */
  note(line: string): void {
    this.#progress.note(line);
  }

  /** Counts and reports a failed measurement. */
  fail(what: string, error: unknown): void {
    this.#failures++;
    this.note(`FAILED ${what}: ${error instanceof Error ? error.message : String(error)}`);
  }

  /** Kills the running child and removes the temporary folder; safe to call at any time and repeatedly. */
  close(): void {
    this.#children.kill();
    // A killed child may still be writing for a moment.
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  async #hasPeer(name: string): Promise<boolean> {
    const peers = await this.once("peers", () => this.#installPeers());
    return !(name in peers) || typeof peers[name as PeerName] === "string";
  }

  async #installPeers(): Promise<Peers> {
    this.#progress.step("peers");
    const peers = await ensurePeers((line) => this.note(line));
    for (const [name, problem] of Object.entries(peers)) {
      if (problem instanceof Error) this.note(`Left out ${name}: ${problem.message}`);
    }
    return peers;
  }
}
