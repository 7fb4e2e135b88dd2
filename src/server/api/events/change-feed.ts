import { setTimeout as sleep } from "node:timers/promises";
import type { Kernel, SessionId } from "../../../kernel/index.ts";
import { BoundedMap } from "../../../model/base/caches.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { type ApiCaller, isAdminCaller, isVisibleTo } from "../core/api-caller.ts";
import type { StreamEvent } from "../core/send-reply.ts";

/** Work in this process whose changes the feed reports, with the person who may see it; undefined: the local one. */
export interface FeedSource {
  readonly onChange: (listener: (job: object, owner: string | undefined) => void) => () => void;
}

interface FeedItem {
  readonly event: "session" | "task" | "job" | "memory";
  readonly data: object;
  readonly isFor: (caller: ApiCaller) => boolean;
}

/** Events that a client may have missed while it reconnected. */
const MAX_ITEMS = 1_000;
/** Minimum time between two looks at the store. */
const LOOK_MS = 500;
/** The newest sessions are looked at after each commit, and so are those that have changed lately. */
const NEWEST = 50;
const MAX_RECENT = 200;
/** Other sessions are looked at in turn, this many at a time. */
const SWEEP_SESSIONS = 250;
const MAX_TASKS = 50;

/** Reports changes of sessions, tasks and jobs, by whichever process. It looks at the store only while somebody listens. */
export class ChangeFeed {
  readonly #kernel: Kernel;
  readonly #source: FeedSource;
  readonly #epoch = Date.now().toString(36);
  #items: FeedItem[] = [];
  /** Number of the first item. */
  #first = 0;
  readonly #heads = new BoundedMap<SessionId, number>({ max: 100_000 });
  readonly #recent = new BoundedMap<SessionId, true>({ max: MAX_RECENT });
  readonly #tasks = new BoundedMap<string, string>({ max: 1_000 });
  readonly #wakers = new Set<() => void>();
  #listeners = 0;
  #since = 0;
  /** False until the first look, which only learns the states of tasks. */
  #knowsTasks = false;
  #sweep: SessionId | undefined;
  #watch: { readonly end: () => void } | undefined;

  constructor(kernel: Kernel, source: FeedSource) {
    this.#kernel = kernel;
    this.#source = source;
  }

  /**
   * Yields the events for a person from now on, or after the event with an id. A client that missed events which are
   * no longer kept gets the event "reset" first.
   */
  async *follow(
    caller: ApiCaller,
    lastId: string | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<StreamEvent> {
    this.#listeners++;
    if (!this.#watch) this.#start();
    try {
      let position = this.#findPosition(lastId);
      if (position === undefined) {
        position = this.#end;
        yield { id: `${this.#epoch}-${position}`, event: "reset", data: {} };
      }
      while (!signal.aborted) {
        const woken = this.#wait(signal);
        for (; position < this.#end; position++) {
          const item = this.#items[position - this.#first];
          if (item?.isFor(caller))
            yield { id: `${this.#epoch}-${position + 1}`, event: item.event, data: item.data };
          if (signal.aborted) return;
        }
        await woken;
        if (position < this.#first) {
          position = this.#first;
          yield { id: `${this.#epoch}-${position}`, event: "reset", data: {} };
        }
      }
    } finally {
      this.#listeners--;
      if (this.#listeners === 0) this.#stop();
    }
  }

  get #end(): number {
    return this.#first + this.#items.length;
  }

  #findPosition(lastId: string | undefined): number | undefined {
    if (lastId === undefined) return this.#end;
    const [epoch, number] = lastId.split("-");
    const position = Number(number);
    const isKnown = epoch === this.#epoch && position >= this.#first && position <= this.#end;
    return isKnown ? position : undefined;
  }

  #start(): void {
    this.#since = Date.now();
    const stop = new AbortController();
    let isDue = true;
    let isLooking = false;
    const look = async () => {
      if (isLooking) return;
      isLooking = true;
      while (isDue && !stop.signal.aborted) {
        isDue = false;
        await this.#look().catch(() => undefined);
        await sleep(LOOK_MS, undefined, { ref: false, signal: stop.signal }).catch(() => undefined);
      }
      isLooking = false;
    };
    const ring = () => {
      isDue = true;
      void look();
    };
    const endCommits = this.#kernel.onCommit(ring);
    const endJobs = this.#source.onChange((data, owner) =>
      this.#add({
        event: "job",
        data,
        isFor: (caller) => (owner === undefined ? isAdminCaller(caller) : caller.id === owner),
      }),
    );
    const endMonitor = this.#kernel.monitor.on((event) => {
      if (event.type === "sample" || event.type === "images") return;
      const { type, text } = event;
      const report = event.type === "relief" ? { report: event.report } : {};
      this.#add({ event: "memory", data: { at: Date.now(), type, text, ...report }, isFor: isAdminCaller });
    });
    this.#watch = {
      end: () => {
        endMonitor();
        stop.abort();
        endCommits();
        endJobs();
      },
    };
    void look();
  }

  #stop(): void {
    this.#watch?.end();
    this.#watch = undefined;
  }

  async #look(): Promise<void> {
    const newest = await this.#kernel.sessions({ limit: NEWEST });
    const before = this.#sweep;
    const others = await this.#kernel
      .sessions({ limit: SWEEP_SESSIONS, ...dropUndefined({ before }) })
      .catch(() => []);
    this.#sweep = others.length < SWEEP_SESSIONS ? undefined : others.at(-1)?.id;
    const ids = new Set([...newest, ...others].map(({ id }) => id));
    for (const id of this.#recent.keys()) ids.add(id);
    for (const id of ids) await this.#lookAt(id);
    for (const { id, state, session } of await this.#kernel.tasks.list({ limit: MAX_TASKS })) {
      const known = this.#tasks.get(id);
      this.#tasks.set(id, state);
      if (known === state || (known === undefined && !this.#knowsTasks)) continue;
      this.#add({
        event: "task",
        data: { id, session, state },
        isFor: (caller) => isVisibleTo(caller, session),
      });
    }
    this.#knowsTasks = true;
  }

  async #lookAt(id: SessionId): Promise<void> {
    const head = await this.#kernel.head(id).catch(() => undefined);
    if (!head) return;
    const known = this.#heads.get(id);
    if (known === head.seq) return;
    this.#heads.set(id, head.seq);
    if (known === undefined && head.at < this.#since) return;
    this.#recent.set(id, true);
    const data = { session: id, entries: head.seq, at: head.at, isNew: known === undefined };
    this.#add({ event: "session", data, isFor: (caller) => isVisibleTo(caller, id) });
  }

  #add(item: FeedItem): void {
    this.#items.push(item);
    if (this.#items.length > MAX_ITEMS) {
      this.#items = this.#items.slice(MAX_ITEMS / 2);
      this.#first += MAX_ITEMS / 2;
    }
    for (const wake of this.#wakers) wake();
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#wakers.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      this.#wakers.add(wake);
      signal.addEventListener("abort", wake, { once: true });
      if (signal.aborted) wake();
    });
  }
}
