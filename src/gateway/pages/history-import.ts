import {
  FORMATS,
  findSourcePlaces,
  type ImportProgress,
  type ImportTotals,
  importSources,
  type System,
} from "../../formats/index.ts";
import type { Kernel } from "../../index.ts";
import { createArgumentFault, PageFault } from "./page-fault.ts";
import type { PageReply } from "./page-reply.ts";
import { checkMethod, type PageRequest } from "./page-request.ts";

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

/**
 * Imports the histories of agents on this computer, one run at a time. Only their well-known folders are read: a caller
 * that could name a path could have any file read.
 */
export class HistoryImport {
  readonly #kernel: Kernel;
  readonly #system: System | undefined;
  #state: ImportState = { state: "idle" };
  #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(kernel: Kernel, system?: System) {
    this.#kernel = kernel;
    this.#system = system;
  }

  /** GET returns the state, POST starts a run, DELETE stops it. */
  async page(callRequest: PageRequest): Promise<PageReply> {
    checkMethod(callRequest, "GET", "HEAD", "POST", "DELETE");
    if (callRequest.prefixes !== undefined)
      throw new PageFault(
        403,
        "FORBIDDEN",
        "Only a user who sees all sessions may import; ask the gateway's owner.",
      );
    if (callRequest.method === "POST") this.#start(callRequest.query.get("format"));
    if (callRequest.method === "DELETE") await this.close();
    return { status: callRequest.method === "POST" ? 202 : 200, json: this.#state };
  }

  /** Stops the run; imported sessions are kept. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Does nothing if a run is already in progress. */
  #start(names: string | null): void {
    const formats = names?.split(",").map((name) => {
      const format = FORMATS.find((one) => one.name === name.trim());
      if (format) return format;
      throw createArgumentFault("format", name, `one of ${FORMATS.map((one) => one.name).join(", ")}`);
    });
    if (this.#state.state === "running" || this.#state.state === "indexing") return;
    const startedAt = Date.now();
    this.#state = { state: "running", startedAt };
    this.#stop = new AbortController();
    this.#running = this.#run(startedAt, formats).catch((error: unknown) => {
      const endedAt = Date.now();
      const why = error instanceof Error ? error.message : String(error);
      this.#state = this.#stop.signal.aborted
        ? { state: "stopped", startedAt, endedAt }
        : { state: "failed", startedAt, endedAt, error: why };
    });
  }

  async #run(startedAt: number, formats: (typeof FORMATS)[number][] | undefined): Promise<void> {
    const { signal } = this.#stop;
    const places = await findSourcePlaces(this.#system);
    const wanted = places.filter(({ format }) => !formats || formats.includes(format));
    const report = await importSources(this.#kernel, [...new Set(wanted.map(({ path }) => path))], {
      ...(formats && { formats }),
      signal,
      onProgress: (progress) => {
        this.#state = { state: "running", startedAt, progress };
      },
    });
    const { totals, formats: counts, problems } = report;
    const result = { startedAt, totals, formats: counts, problems: problems.length };
    if (!signal.aborted) await this.#index(result, signal);
    this.#state = { ...result, state: signal.aborted ? "stopped" : "done", endedAt: Date.now() };
  }

  /** Indexes the imported entries, so that the first recall finds them. Stopped, a later recall goes on with it. */
  async #index(result: Omit<ImportState, "state">, signal: AbortSignal): Promise<void> {
    const { memory } = this.#kernel;
    const { unindexed } = await memory.state();
    let covered = 0;
    const show = (shares: Pick<ImportState, "indexed" | "embedded">) => {
      this.#state = { ...result, state: "indexing", ...shares };
    };
    show({ indexed: 0, embedded: 0 });
    await memory
      .catchUp({
        signal,
        onProgress: (progress) => {
          covered += progress.covered;
          show({ indexed: covered / Math.max(1, covered, unindexed), embedded: 0 });
        },
        onEmbedded: (embedded, total) => show({ indexed: 1, embedded: embedded / Math.max(1, total) }),
      })
      .catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
  }
}
