import { checkFields, checkList, checkTexts } from "../model/arguments.ts";
import type { SessionId } from "../model/entry.ts";
import { invalidArgument } from "../model/errors.ts";
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

/** What is kept beside the records. */
export interface IntakeSave {
  /** Where reading can go on. */
  readonly checkpoint?: Json;
  /** What has to be known of what was taken in; better small. */
  readonly progress?: Json;
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

  /** The intake of that name for a session, made if there is none; ARGUMENT_INVALID if it feeds another one. */
  static async open(log: Log, session: SessionId, name: string): Promise<Intake> {
    if (typeof name !== "string" || name === "") throw invalidArgument("name", name, "the name of a source");
    const state = await log.store.intakes.open(name, session);
    if (state.session === session) return new Intake(log, name, state);
    throw invalidArgument(
      "name",
      name,
      `a source of this session; it feeds ${JSON.stringify(state.session)}`,
    );
  }

  /** Where reading can go on, as it was given last; undefined before the first time. */
  get checkpoint(): Json | undefined {
    return parsed(this.#state.checkpoint);
  }

  /** What was given as progress last. */
  get progress(): Json | undefined {
    return parsed(this.#state.progress);
  }

  /** Those of the records that were taken in already. */
  async find(records: readonly string[]): Promise<ReadonlyMap<string, TakenRecord>> {
    checkTexts("records", records);
    return this.#log.store.intakes.find(this.name, records);
  }

  /**
   * Appends items next to each other, with their records, checkpoint and progress, all or nothing; returns the seq of the
   * first. INTAKE_CONFLICT if someone else has taken in meanwhile, POSITION_CONFLICT if the session is not at
   * `expectedHead`.
   */
  async append(
    items: readonly IntakeItem[],
    options: IntakeSave & { readonly expectedHead?: number } = {},
  ): Promise<number> {
    checkList("items", items, { body: "object", record: "object?", at: "number?" });
    const { expectedHead, ...saved } = checkFields("options", options, { expectedHead: "number?" });
    const texts = written(saved);
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
    const records = items.map(({ record }) => record);
    const entries = await this.#log.append(this.session, ready, {
      ...(expectedHead !== undefined && { expectedHead }),
      intake: { name: this.name, stamp, records, ...texts },
    });
    this.#state = { ...this.#state, ...texts, stamp: stamp + 1 };
    return entries[0]?.seq as number;
  }

  /** Keeps checkpoint and progress without an append. */
  async save(saved: IntakeSave): Promise<void> {
    const texts = written(checkFields("saved", saved));
    const stamp = await this.#log.store.intakes.save(this.name, this.#state.stamp, texts);
    this.#state = { ...this.#state, ...texts, stamp };
  }

  /** Looks again after INTAKE_CONFLICT: what others took in is known then. */
  async refresh(): Promise<void> {
    this.#state = await this.#log.store.intakes.open(this.name, this.session);
  }
}

function parsed(text: string | undefined): Json | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    // Damaged on disk: whoever reads begins again, and records that were taken in are known.
    return undefined;
  }
}

function written({ checkpoint, progress }: IntakeSave): Pick<IntakeState, "checkpoint" | "progress"> {
  return {
    ...(checkpoint !== undefined && { checkpoint: writeJson("checkpoint", checkpoint) }),
    ...(progress !== undefined && { progress: writeJson("progress", progress) }),
  };
}

function writeJson(option: string, value: Json): string {
  try {
    const text: string | undefined = JSON.stringify(value);
    if (text !== undefined) return text;
  } catch {
    // Refused below.
  }
  throw invalidArgument(option, value, "a value that JSON can hold (no BigInt, no cycles)");
}
