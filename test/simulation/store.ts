import type { Store } from "../../src/log/store/store.ts";
import { LonghaulError } from "../../src/model/errors.ts";
import type { Actor, Machine } from "./machine.ts";

/** Faults of a store, each a share of its calls. */
export interface StoreFaults {
  /** Refused, with nothing done. */
  refusals: number;
  /** Done, but answered with an error: the connection broke. */
  lostAnswers: number;
  maxDelayMs: number;
}

/** The next calls after which an actor dies. */
export interface Fuse {
  calls: number;
  readonly isDone: boolean;
}

/** A store that several actors share. */
export class SharedStore {
  readonly faults: StoreFaults = { refusals: 0, lostAnswers: 0, maxDelayMs: 4 };
  readonly fuses = new Map<Actor, Fuse>();
  readonly #machine: Machine;
  readonly #base: Store;
  readonly #listeners = new Map<() => void, Actor>();

  readonly #openOwn: (() => Promise<Store>) | undefined;

  /** With `openOwn`, each actor has a connection of its own to the files of `base`. */
  constructor(machine: Machine, base: Store, openOwn?: () => Promise<Store>) {
    this.#machine = machine;
    this.#base = base;
    this.#openOwn = openOwn;
  }

  /** Opens the store as an actor sees it. */
  async connect(actor: Actor): Promise<Store> {
    const own = this.#openOwn ? await this.#machine.as(undefined, this.#openOwn) : this.#base;
    if (own !== this.#base) actor.onDeath.add(() => void own.close());
    const {
      sessions,
      entries,
      places,
      drafts,
      blobs,
      intakes,
      leases,
      tasks,
      people,
      budgets,
      audit,
      memory,
      ledger,
    } = own;
    const wrap = <Part extends object>(name: string, part: Part) => this.#wrap(actor, name, part);
    return {
      sessions: wrap("sessions", sessions),
      entries: wrap("entries", entries),
      places: wrap("places", places),
      drafts: wrap("drafts", drafts),
      blobs: wrap("blobs", blobs),
      intakes: wrap("intakes", intakes),
      leases: wrap("leases", leases),
      tasks: wrap("tasks", tasks),
      people: wrap("people", people),
      budgets: wrap("budgets", budgets),
      ledger: wrap("ledger", ledger),
      audit: wrap("audit", audit),
      memory: wrap("memory", memory),
      onCommit: (listener) => {
        this.#listeners.set(listener, actor);
        return () => void this.#listeners.delete(listener);
      },
      size: () => own.size(),
      vacuum: () => own.vacuum(),
      close: async () => undefined,
    };
  }

  #wrap<Part extends object>(actor: Actor, name: string, part: Part): Part {
    return new Proxy(part, {
      get: (target, method) => {
        const value: unknown = Reflect.get(target, method);
        if (typeof value !== "function") return value;
        const isSynchronous = (name === "blobs" && method === "read") || String(method).startsWith("peek");
        if (isSynchronous) return value.bind(target);
        return (...args: unknown[]) =>
          this.#call(actor, `${name}.${String(method)}`, () => value.apply(target, args));
      },
    });
  }

  async #call(actor: Actor, name: string, work: () => unknown): Promise<unknown> {
    const { chance } = this.#machine;
    await this.#pause(name);
    const fuse = this.fuses.get(actor);
    const isLast = fuse !== undefined && --fuse.calls <= 0;
    if (isLast && !fuse.isDone) return this.#die(actor);
    if (chance.chance(this.faults.refusals)) throw this.#fault(name);
    let outcome: { readonly value: unknown } | { readonly error: unknown };
    try {
      outcome = { value: await this.#machine.as(undefined, work) };
    } catch (error) {
      outcome = { error };
    }
    if (/append|change|write|claim|create|delete|request/.test(name)) this.#tell();
    if (isLast) return this.#die(actor);
    await this.#pause(`${name} answers`);
    if (!("error" in outcome) && chance.chance(this.faults.lostAnswers)) throw this.#fault(name);
    if ("error" in outcome) throw outcome.error;
    return outcome.value;
  }

  #fault(name: string): LonghaulError {
    this.#machine.note(`${name} fails`);
    return new LonghaulError("STORE_BUSY", `The store is busy: ${name}.`);
  }

  #die(actor: Actor): Promise<never> {
    this.fuses.delete(actor);
    this.#machine.kill(actor);
    return new Promise(() => undefined);
  }

  #pause(name: string): Promise<void> {
    return this.#machine.pause(this.#machine.chance.next() * this.faults.maxDelayMs, name);
  }

  /** Tells all actors that something was written, each a little later. */
  #tell(): void {
    for (const [listener, actor] of this.#listeners) {
      if (actor.isDead) this.#listeners.delete(listener);
      else
        this.#machine.as(actor, () =>
          this.#machine.schedule(this.#machine.chance.next() * 20, "commits", "commit", listener),
        );
    }
  }
}
