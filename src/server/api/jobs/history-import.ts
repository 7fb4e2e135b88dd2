import {
  type AgentHistory,
  examineHistories,
  FORMATS,
  findSourcePlaces,
  type ImportProgress,
  type ImportTotals,
  importSources,
  type System,
} from "../../../histories/index.ts";
import type { Kernel } from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { ApiError } from "../core/api-error.ts";
import { type IndexShares, indexConversations } from "./index-run.ts";

/** The progress of an import of local histories; the imported entries are indexed at its end. */
interface ImportState {
  readonly state: "idle" | "running" | "indexing" | "done" | "stopped" | "failed";
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly progress?: ImportProgress;
  /** Share of the new entries that are indexed, and of the new chunks that have vectors, from 0 to 1. */
  readonly indexed?: number;
  readonly embedded?: number;
  readonly totals?: ImportTotals;
  readonly formats?: Readonly<Record<string, ImportTotals>>;
  /** Number of records that were lost or damaged. */
  readonly problems?: number;
  readonly error?: string;
}

type Format = (typeof FORMATS)[number];

/**
 * Imports the histories of agents on this computer, one run at a time. Only their well-known folders are read: a caller
 * that could name a path could have any file read.
 */
export class HistoryImport {
  readonly #kernel: Kernel;
  readonly #system: System | undefined;
  readonly #listeners = new Set<() => void>();
  #state: ImportState = { state: "idle" };
  #runs = 0;
  #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(kernel: Kernel, system?: System) {
    this.#kernel = kernel;
    this.#system = system;
  }

  /** The state of the current run, or of the last one. */
  get state(): ImportState {
    return this.#state;
  }

  /** Number of runs so far. */
  get runs(): number {
    return this.#runs;
  }

  get isRunning(): boolean {
    return this.#state.state === "running" || this.#state.state === "indexing";
  }

  /** The folders of agents that exist on this computer, which a run reads. */
  async findPlaces(): Promise<readonly { readonly agent: string; readonly path: string }[]> {
    const places = await findSourcePlaces(this.#system);
    return places.map(({ format, path }) => ({ agent: format.name, path }));
  }

  /** The conversations that each agent on this computer keeps and deletes, compared with the store. */
  examine(): Promise<readonly AgentHistory[]> {
    return examineHistories(this.#kernel, this.#system ? { system: this.#system } : {});
  }

  /** Calls `listener` after each change of the state; returns a function that removes it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Starts a run, unless one is in progress. Throws REQUEST_INVALID for a format that does not exist. */
  start(names?: readonly string[]): void {
    const formats = names?.map(findFormat);
    if (this.isRunning) return;
    const startedAt = Date.now();
    this.#runs++;
    this.#setState({ state: "running", startedAt });
    this.#stop = new AbortController();
    this.#running = this.#run(startedAt, formats).catch((error: unknown) => {
      const endedAt = Date.now();
      const why = error instanceof Error ? error.message : String(error);
      this.#setState(
        this.#stop.signal.aborted
          ? { state: "stopped", startedAt, endedAt }
          : { state: "failed", startedAt, endedAt, error: why },
      );
    });
  }

  /** Stops the run; imported sessions are kept. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(startedAt: number, formats: readonly Format[] | undefined): Promise<void> {
    const { signal } = this.#stop;
    const places = await findSourcePlaces(this.#system);
    const wanted = places.filter(({ format }) => !formats || formats.includes(format));
    const report = await importSources(this.#kernel, [...new Set(wanted.map(({ path }) => path))], {
      ...dropUndefined({ formats }),
      withOriginals: true,
      // Nobody is asked here about histories that came with a repository.
      mayImportTree: async () => false,
      ...dropUndefined({ system: this.#system }),
      signal,
      onProgress: (progress) => this.#setState({ state: "running", startedAt, progress }),
    });
    const { totals, formats: counts, problems } = report;
    const result = { startedAt, totals, formats: counts, problems: problems.length };
    if (!signal.aborted) await this.#index(result, signal);
    this.#setState({ ...result, state: signal.aborted ? "stopped" : "done", endedAt: Date.now() });
  }

  /** Indexes the imported entries, so that the first recall finds them. Stopped, a later recall continues with it. */
  async #index(result: Omit<ImportState, "state">, signal: AbortSignal): Promise<void> {
    const show = (shares: IndexShares) => this.#setState({ ...result, state: "indexing", ...shares });
    await indexConversations(this.#kernel, signal, show).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }

  #setState(state: ImportState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}

function findFormat(name: string): Format {
  const format = FORMATS.find((one) => one.name === name.trim());
  if (format) return format;
  const known = FORMATS.map((one) => one.name).join(", ");
  throw new ApiError(
    "REQUEST_INVALID",
    `format is ${JSON.stringify(name.slice(0, 80))}; expected one of ${known}.`,
  );
}
