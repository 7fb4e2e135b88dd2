import type { SessionId } from "../model/entry.ts";
import type { Json } from "../model/json.ts";
import type { IntakeState, NewRecord, TakenRecord } from "../store/intake-store.ts";
import type { Ready } from "./absorb.ts";
import type { Log } from "./log.ts";
import { type BodyInput, readyBody } from "./ready-body.ts";

/** One entry to be taken in. */
export interface IntakeItem {
  /** The foreign record it is made of; left out for entries that come from no record. */
  readonly record?: NewRecord;
  /** When it happened; now by default. The log raises it to the time of the entry before. */
  readonly at?: number;
  readonly body: BodyInput;
}

/** The way into a session for records that come from elsewhere: each is taken in once, however often it is offered. */
export class Intake {
  readonly name: string;
  readonly session: SessionId;
  readonly #log: Log;
  #state: IntakeState;

  constructor(log: Log, name: string, state: IntakeState) {
    this.name = name;
    this.session = state.session;
    this.#log = log;
    this.#state = state;
  }

  /** What was given as checkpoint last; undefined before the first one. */
  get checkpoint(): Json | undefined {
    return this.#state.checkpoint === undefined ? undefined : (JSON.parse(this.#state.checkpoint) as Json);
  }

  /** Those of the records that were taken in already. */
  find(records: readonly string[]): Promise<ReadonlyMap<string, TakenRecord>> {
    return this.#log.store.intakes.find(this.name, records);
  }

  /**
   * Appends items next to each other, with their records and the checkpoint, all or nothing; returns the seq of the
   * first. INTAKE_CONFLICT if someone else has taken in meanwhile, POSITION_CONFLICT if the session is not at
   * `expectedHead`.
   */
  async append(
    items: readonly IntakeItem[],
    { checkpoint, expectedHead }: { readonly checkpoint?: Json; readonly expectedHead?: number } = {},
  ): Promise<number> {
    const ready: Ready[] = [];
    try {
      for (const { body, at } of items) {
        const readying = readyBody(this.#log, body);
        const one = readying instanceof Promise ? await readying : readying;
        ready.push(at === undefined ? one : { ...one, at });
      }
    } catch (error) {
      await this.#log.giveUp(ready.flatMap(({ holds }) => holds ?? []));
      throw error;
    }
    const { stamp } = this.#state;
    const saved = checkpoint === undefined ? {} : { checkpoint: JSON.stringify(checkpoint) };
    const records = items.map(({ record }) => record);
    const entries = await this.#log.append(this.session, ready, {
      ...(expectedHead !== undefined && { expectedHead }),
      intake: { name: this.name, stamp, records, ...saved },
    });
    this.#state = { ...this.#state, ...saved, stamp: stamp + 1 };
    return entries[0]?.seq as number;
  }

  /** Keeps a checkpoint without an append. */
  async save(checkpoint: Json): Promise<void> {
    const text = JSON.stringify(checkpoint);
    const stamp = await this.#log.store.intakes.checkpoint(this.name, this.#state.stamp, text);
    this.#state = { ...this.#state, stamp, checkpoint: text };
  }

  /** Looks again after INTAKE_CONFLICT: what others took in is known then. */
  async refresh(): Promise<void> {
    this.#state = await this.#log.store.intakes.open(this.name, this.session);
  }
}
