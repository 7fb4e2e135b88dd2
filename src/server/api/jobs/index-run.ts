import type { Kernel } from "../../../kernel/index.ts";

/** Shares of the work that are done, from 0 to 1. */
export interface IndexShares {
  /** Of the entries that were not indexed. */
  readonly indexed: number;
  /** Of the chunks without vectors. */
  readonly embedded: number;
}

interface IndexRunState extends IndexShares {
  readonly state: "idle" | "running" | "done" | "stopped" | "failed";
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly error?: string;
}

/** Brings the index up to the end of all conversations. */
export async function indexConversations(
  kernel: Kernel,
  signal: AbortSignal,
  show: (shares: IndexShares) => void,
): Promise<void> {
  const { memory } = kernel;
  const { unindexed } = await memory.state();
  let covered = 0;
  show({ indexed: 0, embedded: 0 });
  await memory.catchUp({
    signal,
    onProgress: (progress) => {
      covered += progress.covered;
      show({ indexed: covered / Math.max(1, covered, unindexed), embedded: 0 });
    },
    onEmbedded: (embedded, total) => show({ indexed: 1, embedded: embedded / Math.max(1, total) }),
  });
}

/** Indexes the conversations on request, one run at a time. */
export class IndexRun {
  readonly #kernel: Kernel;
  readonly #listeners = new Set<() => void>();
  #state: IndexRunState = { state: "idle", startedAt: 0, indexed: 0, embedded: 0 };
  #runs = 0;
  #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** The state of the current run, or of the last one. */
  get state(): IndexRunState {
    return this.#state;
  }

  /** Number of runs so far. */
  get runs(): number {
    return this.#runs;
  }

  /** Calls `listener` after each change of the state; returns a function that removes it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Starts a run, unless one is in progress. */
  start(): void {
    if (this.#state.state === "running") return;
    this.#runs++;
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    const begun = { state: "running", startedAt: Date.now() } as const;
    this.#setState({ ...begun, indexed: 0, embedded: 0 });
    const show = (shares: IndexShares) => this.#setState({ ...begun, ...shares });
    const end = (state: IndexRunState["state"], rest: Partial<IndexRunState> = {}) =>
      this.#setState({ ...this.#state, ...rest, state, endedAt: Date.now() });
    this.#running = indexConversations(this.#kernel, signal, show).then(
      () => end("done", { indexed: 1, embedded: 1 }),
      (error: unknown) =>
        signal.aborted
          ? end("stopped")
          : end("failed", { error: error instanceof Error ? error.message : String(error) }),
    );
  }

  /** Stops the run; indexed entries stay. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  #setState(state: IndexRunState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}
