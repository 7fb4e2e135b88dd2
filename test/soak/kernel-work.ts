import type { Kernel, Session } from "../../src/kernel/index.ts";

const SESSIONS = 50;
/** New sessions are started after this many rounds, because longer sessions would look like growth. */
const ROUNDS_OF_SESSION = 40;
/** Deletions are rare, because each makes recall reload its index. */
const DELETE_EVERY = 20;
const APPENDS = 24;
const FIT_EVERY = 8;
const BLOB = Buffer.concat([
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
  Buffer.alloc(90_000, 7),
]);

/** Counts of the work done in one process. */
export interface WorkCounts {
  appends: number;
  fits: number;
  compactions: number;
  recalls: number;
  aborts: number;
}

/** The session work of a program: appends, drafts, windows, summaries, forks, tails, blobs, recalls, aborts. */
export class KernelWork {
  readonly #kernel: Kernel;
  readonly counts: WorkCounts = { appends: 0, fits: 0, compactions: 0, recalls: 0, aborts: 0 };

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  async round(round: number): Promise<void> {
    const kernel = this.#kernel;
    const name = `work ${round % SESSIONS} of ${Math.floor(round / SESSIONS / ROUNDS_OF_SESSION)}`;
    await using session = await kernel.session(name);
    const window = session.window({ model: "claude-sonnet-4-5", models: { "*": { window: 8_000 } } });
    for (let n = 0; n < APPENDS; n++) {
      const text = `${round} ${n} ${"some words of the work ".repeat(10)}`;
      await session.append({ role: n % 2 ? "assistant" : "user", text });
      this.counts.appends++;
      if (n % FIT_EVERY) continue;
      await window.fit();
      this.counts.fits++;
    }
    const draft = session.draft({ role: "assistant", text: "thinking" });
    draft.write(" aloud");
    if (round % 3 === 0) await draft.discard();
    else await draft.finish();
    await session.compact({});
    this.counts.compactions++;
    for await (const _ of session.tail({ after: 0 })) break;
    void session.tail().next();
    if (round % 10 === 0)
      await session.append({
        role: "user",
        parts: [{ type: "data", data: Buffer.concat([BLOB, Buffer.from(`${round}`)]) }],
      });
    if (round % DELETE_EVERY === 0) await this.#forkAndDelete(session, `fork ${round}`);
    await kernel.memory.recall(`question ${round} about module ${round % 97}`, { k: 3 });
    this.counts.recalls++;
    await this.#abortedRecall(round);
  }

  /**
   * Empties the caches of recall, whose changing sizes would hide slow growth: the chunks since the last sealed segment
   * alone take up to 2 MB and begin again every 2,500 requests.
   */
  async settle(): Promise<void> {
    await using session = await this.#kernel.session("settled");
    await session.append({ role: "user", text: "a word to begin with" });
    await this.#forkAndDelete(session, "fork of a settled session");
    await this.#kernel.memory.recall("nothing", { k: 1 });
    this.#kernel.memory.dropCaches();
  }

  async #forkAndDelete(session: Session, id: string): Promise<void> {
    const fork = await session.fork({ id });
    await fork.append({ role: "user", text: `said in ${id}` });
    await fork.close();
    // Indexes the fork first, so that the deletion also removes it from the index.
    await this.#kernel.memory.recall(id, { k: 1 });
    await this.#kernel.deleteSession(id);
  }

  /** Runs a recall that is aborted two times out of three; otherwise its signal never fires. */
  async #abortedRecall(round: number): Promise<void> {
    const controller = new AbortController();
    const recalled = this.#kernel.memory.recall(`lexer ${round}`, { signal: controller.signal });
    if (round % 3) controller.abort();
    await recalled.catch(() => this.counts.aborts++);
  }
}
