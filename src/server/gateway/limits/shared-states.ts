import type { SharedStateStore } from "../../../kernel/faces/log.ts";
import type { Team } from "../../../kernel/faces/people.ts";
import type { Json } from "../../../kernel/index.ts";

/** Changes a stored state; undefined if there is none. Called again if the store must repeat its work. */
type StateChange = (stored: Json | undefined) => Json;

/** Called with the present value of a state that this or another gateway has changed. */
type StateListener = (name: string, value: Json) => void;

interface SharedStatesOptions {
  readonly store: SharedStateStore | undefined;
  readonly onError: (error: unknown) => void;
  /** How long an unchanged state is kept. */
  readonly keepMs: () => number;
}

/** Changes are written together at this interval, and those of others are read. */
const FLUSH_MS = 250;
const READ_MS = 1_000;
/** Changes that were committed late are read again for this long. */
const OVERLAP_MS = 10_000;
const DROP_MS = 60_000;
/** States with unwritten changes; beyond them, changes stay in this process. */
const MAX_PENDING = 10_000;

/**
 * States that the gateways on one database share. Each change is applied to the stored state, so that counts are those
 * of all gateways; here they are known at once, elsewhere within about a second. Nothing waits for the store, and a
 * store that fails leaves each gateway with its own states.
 */
export class SharedStates {
  readonly #options: SharedStatesOptions;
  readonly #listeners = new Map<string, StateListener>();
  #pending = new Map<string, StateChange[]>();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #readMs = 0;
  #droppedMs = performance.now();
  #isFailing = false;
  #answeredMs = performance.now();

  constructor(options: SharedStatesOptions) {
    this.#options = options;
    if (!options.store) return;
    this.#timer = setInterval(() => this.#run(), FLUSH_MS).unref();
  }

  /** Time since the store has last answered; 0 for a store of one machine. */
  get silentMs(): number {
    return this.#timer ? performance.now() - this.#answeredMs : 0;
  }

  /** Listens to the states of a kind. */
  listen(kind: string, listener: StateListener): void {
    this.#listeners.set(kind, listener);
  }

  /** Changes a state of a kind, soon. */
  change(kind: string, name: string, change: StateChange): void {
    const key = `${kind} ${name}`;
    if (!this.#timer || (this.#pending.size >= MAX_PENDING && !this.#pending.has(key))) return;
    const changes = this.#pending.get(key);
    if (changes) changes.push(change);
    else this.#pending.set(key, [change]);
  }

  /** Writes the last changes. */
  async close(): Promise<void> {
    if (!this.#timer) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#running;
    await this.#flush().catch(this.#options.onError);
  }

  #run(): void {
    this.#running ??= this.#exchange().then(
      () => {
        this.#answeredMs = performance.now();
        this.#isFailing = false;
        this.#running = undefined;
      },
      (error: unknown) => {
        // Once for each time that the store is away.
        if (!this.#isFailing) this.#options.onError(error);
        this.#isFailing = true;
        this.#running = undefined;
      },
    );
  }

  async #exchange(): Promise<void> {
    await this.#flush();
    const now = performance.now();
    const { store } = this.#options;
    if (now - this.#readMs >= READ_MS) {
      const isFirst = this.#readMs === 0;
      this.#readMs = now;
      const withinMs = isFirst ? this.#options.keepMs() : OVERLAP_MS;
      for (const { name, value } of (await store?.listChanged(withinMs)) ?? []) this.#tell(name, value);
    }
    if (now - this.#droppedMs < DROP_MS) return;
    this.#droppedMs = now;
    await store?.dropUnchanged(this.#options.keepMs());
  }

  async #flush(): Promise<void> {
    if (this.#pending.size === 0) return;
    const pending = this.#pending;
    this.#pending = new Map();
    const changed = await this.#options.store?.change([...pending.keys()], (stored) => {
      const values = new Map<string, Json>();
      for (const [key, changes] of pending) {
        let value = stored.get(key);
        for (const change of changes) value = change(value ?? undefined);
        values.set(key, value as Json);
      }
      return values;
    });
    for (const { name, value } of changed ?? []) this.#tell(name, value);
  }

  /** A state that this gateway has changed is reported only after the changes are written. */
  #tell(key: string, value: Json): void {
    if (this.#pending.has(key)) return;
    const at = key.indexOf(" ");
    this.#listeners.get(key.slice(0, at))?.(key.slice(at + 1), value);
  }
}

/** A gateway that is open learns of the first person within this time. */
const CHECK_MS = 1_000;

/** Whether the store has people or budgets. Once it has, the gateway stays closed to others until it is restarted. */
export class TeamState {
  readonly #team: Pick<Team, "isInUse">;
  /** True if the store is known to have people or budgets. */
  isKnownInUse = false;
  #checked: Promise<boolean> | undefined;
  #checkedMs = Number.NEGATIVE_INFINITY;

  constructor(team: Pick<Team, "isInUse">) {
    this.#team = team;
  }

  /** The last known state if the store fails. */
  async isInUse(): Promise<boolean> {
    if (this.isKnownInUse) return true;
    const now = performance.now();
    if (!this.#checked || now - this.#checkedMs > CHECK_MS) {
      this.#checkedMs = now;
      this.#checked = this.#check();
    }
    // Somebody may have been recognized since the last check.
    return (await this.#checked) || this.isKnownInUse;
  }

  /** Called when a person was recognized, so that the state is certain before its next check. */
  markInUse(): void {
    this.isKnownInUse = true;
  }

  async #check(): Promise<boolean> {
    try {
      this.isKnownInUse ||= await this.#team.isInUse();
    } catch {
      // Requests of people are refused until the store answers; without people it is not needed.
    }
    return this.isKnownInUse;
  }
}
