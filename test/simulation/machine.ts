import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";
import { createRequire, syncBuiltinESMExports } from "node:module";
import { Random } from "../support/random.ts";

/** A simulated process: everything that it awaits is an event of the machine, and ends with it. */
export interface Actor {
  readonly name: string;
  isDead: boolean;
  /** Until then nothing of it happens, as if its machine slept. */
  frozenUntilMs: number;
  /** True once something was done to it that may cost it its tasks. */
  isTroubled: boolean;
  /** Added to the time that its clock shows. */
  clockSkewMs: number;
  /** Called when it dies. */
  readonly onDeath: Set<() => void>;
}

interface Event {
  readonly at: number;
  readonly number: number;
  readonly actor: Actor | undefined;
  readonly lane: string;
  readonly name: string;
  readonly run: () => void;
}

/** When an event can happen. */
const timeOf = ({ at, actor }: Event) => Math.max(at, actor?.frozenUntilMs ?? 0);

/** Cancels an event. */
type Cancel = () => void;

const START_MS = Date.UTC(2026, 0, 1);
const require = createRequire(import.meta.url);

const real = { setImmediate };
/** Kinds of work of the system that end by themselves; virtual time stands still until they have. */
const SYSTEM_WORK = /^(FSReq|GetAddrInfo|Zlib|Brotli|Zstd|ScryptJob|HashJob|RandomBytesJob)/;

/**
 * One process in which time, timers, ids, random numbers and the order of everything that is ready come from a seed. The
 * sources are those of Node itself, replaced before the program under test is loaded, so that no call can miss the door.
 */
export class Machine {
  readonly #chance: Random;
  readonly #actors = new AsyncLocalStorage<Actor>();
  /** Events by lane; those of a lane happen in order, those of several in any. */
  readonly #lanes = new Map<string, Event[]>();
  #nowMs = 0;
  #events = 0;
  #ids = 0;
  /** The events so far, as they happened, if they are to be printed. */
  readonly trace: string[] | undefined;
  /** Number of events and notes so far. */
  noted = 0;
  readonly #digest = createHash("sha256");
  failure: Error | undefined;

  constructor(seed: number, keepsTrace = false) {
    this.#chance = new Random(seed);
    if (keepsTrace) this.trace = [];
    this.#takeOver();
    process.on("unhandledRejection", (error) => this.fail(error));
    process.on("uncaughtException", (error) => this.fail(error));
  }

  /** Virtual milliseconds since the start. */
  get nowMs(): number {
    return this.#nowMs;
  }

  get chance(): Random {
    return this.#chance;
  }

  get actor(): Actor | undefined {
    return this.#actors.getStore();
  }

  createActor(name: string): Actor {
    return { name, isDead: false, frozenUntilMs: 0, isTroubled: false, clockSkewMs: 0, onDeath: new Set() };
  }

  /** Runs work as an actor. */
  as<Result>(actor: Actor | undefined, work: () => Result): Result {
    return actor ? this.#actors.run(actor, work) : this.#actors.exit(work);
  }

  /** Ends an actor: none of its events happens any more. */
  kill(actor: Actor): void {
    if (actor.isDead) return;
    this.note(`${actor.name} dies`);
    actor.isDead = true;
    for (const [lane, events] of this.#lanes) {
      const left = events.filter((event) => event.actor !== actor);
      if (left.length === 0) this.#lanes.delete(lane);
      else if (left.length < events.length) this.#lanes.set(lane, left);
    }
    for (const mourn of actor.onDeath) this.as(undefined, mourn);
  }

  /** Adds an event of the current actor. */
  schedule(delayMs: number, lane: string, name: string, run: () => void): Cancel {
    const actor = this.actor;
    if (actor?.isDead) return () => undefined;
    const at = this.#nowMs + Math.max(0, delayMs);
    const key = `${actor?.name ?? "world"}/${lane}`;
    const event: Event = { at, number: this.#events++, actor, lane: key, name, run };
    const events = this.#lanes.get(key) ?? [];
    this.#lanes.set(key, events);
    let place = events.length;
    while (place > 0 && (events[place - 1] as Event).at > at) place--;
    events.splice(place, 0, event);
    return () => {
      const own = this.#lanes.get(key);
      const index = own?.indexOf(event) ?? -1;
      if (index >= 0) own?.splice(index, 1);
      if (own?.length === 0) this.#lanes.delete(key);
    };
  }

  /** Resolves after some virtual time, at a moment that the seed chooses among all that is ready. */
  pause(delayMs: number, name: string): Promise<void> {
    return new Promise((resolve) => {
      this.schedule(delayMs, `pause ${this.#events}`, name, resolve);
    });
  }

  note(words: string): void {
    const line = `${this.#nowMs.toFixed(0)} ${words}`;
    this.noted++;
    this.#digest.update(line);
    this.trace?.push(line);
  }

  /** Digest of all events so far: the same for the same seed. */
  readDigest(): string {
    return this.#digest.copy().digest("hex").slice(0, 16);
  }

  fail(error: unknown): void {
    this.failure ??= error instanceof Error ? error : new Error(String(error));
  }

  /** Lets events happen until the virtual time is over, a condition holds, or something failed. */
  async run(untilMs: number, isDone: () => boolean = () => false): Promise<void> {
    for (;;) {
      await this.#settle();
      if (this.failure || isDone()) return;
      const due: Event[] = [];
      let next: Event | undefined;
      for (const [first] of this.#lanes.values()) {
        if (!first) continue;
        const at = timeOf(first);
        if (at <= this.#nowMs) due.push(first);
        if (!next || at < timeOf(next) || (at === timeOf(next) && first.number < next.number)) next = first;
      }
      const event = due.length > 0 ? this.#chance.pick(due) : next;
      if (!event || timeOf(event) > untilMs) {
        this.#nowMs = Math.max(this.#nowMs, untilMs);
        return;
      }
      this.#nowMs = Math.max(this.#nowMs, timeOf(event));
      const events = this.#lanes.get(event.lane) as Event[];
      events.shift();
      if (events.length === 0) this.#lanes.delete(event.lane);
      this.note(`${event.lane}: ${event.name}`);
      try {
        this.as(event.actor, event.run);
      } catch (error) {
        this.fail(error);
      }
    }
  }

  /** Lets promises and the work of the system come to rest. */
  async #settle(): Promise<void> {
    for (;;) {
      await new Promise((resolve) => real.setImmediate(resolve));
      if (!process.getActiveResourcesInfo().some((name) => SYSTEM_WORK.test(name))) return;
    }
  }

  /** Replaces the sources of time and chance. */
  #takeOver(): void {
    const isOwn = () => this.actor !== undefined;
    const nowOf = () => START_MS + Math.floor(this.#nowMs) + (this.actor?.clockSkewMs ?? 0);
    Date.now = () => (isOwn() ? nowOf() : START_MS + Math.floor(this.#nowMs));
    const RealDate = Date;
    globalThis.Date = new Proxy(RealDate, {
      construct: (target, args, self) =>
        Reflect.construct(target, args.length === 0 ? [nowOf()] : args, self) as object,
    });
    performance.now = () => this.#nowMs;
    Object.defineProperty(performance, "timeOrigin", { value: START_MS });
    Math.random = () => this.#chance.next();

    class VirtualTimer {
      #cancel: Cancel = () => undefined;
      readonly #start: () => Cancel;
      constructor(start: () => Cancel) {
        this.#start = start;
        this.#cancel = start();
      }
      cancel() {
        this.#cancel();
      }
      refresh() {
        this.#cancel();
        this.#cancel = this.#start();
        return this;
      }
      ref() {
        return this;
      }
      unref() {
        return this;
      }
      hasRef() {
        return true;
      }
      close() {
        this.#cancel();
      }
      [Symbol.toPrimitive]() {
        return 1;
      }
      [Symbol.dispose]() {
        this.#cancel();
      }
    }
    const timeout = (work: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
      new VirtualTimer(() =>
        this.schedule(Math.max(1, Number(ms) || 0), "timers", "timer", () => work(...args)),
      );
    const interval = (work: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
      const timer: VirtualTimer = new VirtualTimer(() =>
        this.schedule(Math.max(1, Number(ms) || 0), "timers", "interval", () => {
          timer.refresh();
          work(...args);
        }),
      );
      return timer;
    };
    const immediate = (work: (...args: unknown[]) => void, ...args: unknown[]) =>
      new VirtualTimer(() => this.schedule(0, "immediates", "immediate", () => work(...args)));
    // Work outside of actors is the machine's own and that of Node.
    const pick =
      <Work extends (...args: never[]) => unknown>(own: Work, usual: (...args: never[]) => unknown) =>
      (...args: never[]) =>
        isOwn() ? own(...args) : usual(...args);
    const usual = { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate };
    const Immediate = usual.setImmediate(() => undefined).constructor as new () => object;
    const clear = (timer: unknown) => {
      if (timer instanceof VirtualTimer) timer.cancel();
      else if (timer instanceof Immediate) usual.clearImmediate(timer as never);
      else usual.clearTimeout(timer as never);
    };
    const timers = {
      setTimeout: pick(timeout as never, usual.setTimeout as never),
      // Outside of processes, only Node looks at intervals for slow connections, by its own clock.
      setInterval: pick(interval as never, () => new VirtualTimer(() => () => undefined)),
      setImmediate: pick(immediate as never, usual.setImmediate as never),
      clearTimeout: clear,
      clearInterval: clear,
      clearImmediate: clear,
    };
    const abortable = (start: (resolve: () => void) => VirtualTimer, signal: AbortSignal | undefined) =>
      new Promise<void>((resolve, reject) => {
        const stop = () => {
          timer.cancel();
          reject(
            Object.assign(new Error("The operation was aborted"), { name: "AbortError", code: "ABORT_ERR" }),
          );
        };
        const timer = start(() => {
          signal?.removeEventListener("abort", stop);
          resolve();
        });
        if (signal?.aborted) stop();
        else signal?.addEventListener("abort", stop, { once: true });
      });
    type Options = { readonly signal?: AbortSignal };
    const promises = require("node:timers/promises");
    const usualPromises = { ...promises };
    Object.assign(promises, {
      setTimeout: async (ms: number, value: unknown, options?: Options) => {
        if (!isOwn()) return usualPromises.setTimeout(ms, value, options);
        await abortable((resolve) => timeout(resolve, ms), options?.signal);
        return value;
      },
      setImmediate: async (value: unknown, options?: Options) => {
        if (!isOwn()) return usualPromises.setImmediate(value, options);
        await abortable((resolve) => immediate(resolve), options?.signal);
        return value;
      },
    });
    AbortSignal.timeout = (ms: number) => {
      const controller = new AbortController();
      timeout(() => controller.abort(new DOMException("The operation timed out", "TimeoutError")), ms);
      return controller.signal;
    };
    const crypto = require("node:crypto");
    const digits = (count: number) => {
      const bytes = Buffer.alloc(count);
      for (let at = 0; at < count; at++) bytes[at] = this.#chance.below(256);
      return bytes;
    };
    const randomUUID = () => {
      const text = `${(++this.#ids).toString(16).padStart(8, "0")}${digits(12).toString("hex")}`;
      return `${text.slice(0, 8)}-${text.slice(8, 12)}-4${text.slice(13, 16)}-8${text.slice(17, 20)}-${text.slice(20, 32)}`;
    };
    crypto.randomUUID = randomUUID;
    crypto.randomBytes = digits;
    crypto.randomInt = (least: number, limit?: number) =>
      limit === undefined ? this.#chance.below(least) : least + this.#chance.below(limit - least);
    globalThis.crypto.randomUUID = randomUUID as never;
    const os = require("node:os");
    const hostname = os.hostname;
    os.hostname = () => this.actor?.name ?? hostname();
    Object.assign(globalThis, timers);
    Object.assign(require("node:timers"), timers);
    syncBuiltinESMExports();
  }
}
