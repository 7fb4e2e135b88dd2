import { checkFields, checkList, checkTexts } from "../model/argument-checks.ts";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import type { SessionId } from "../model/entry.ts";
import { createArgumentError } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import type { Log } from "./log.ts";
import { type BodyInput, prepareBody } from "./prepare-body.ts";
import type { ReadyBody } from "./spilled-parts.ts";
import type { IntakeState, NewRecord, TakenRecord } from "./store/intake-store.ts";

/** One entry to import. */
export interface IntakeItem {
  /** The foreign record of the entry; omitted for entries without one. */
  readonly record?: NewRecord;
  /** Time of the event; now by default. The log raises it to the previous entry's time. */
  readonly at?: number;
  readonly body: BodyInput;
}

/** Importer state that is stored with the records. */
interface IntakeSave {
  /** Position to resume reading from. */
  readonly checkpoint?: Json;
  /** The importer's own state; keep it small. */
  readonly progress?: Json;
}

/** Imports foreign records into a session: each once, however often it is offered. */
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

  /**
   * Opens the intake of a session, creating it if needed; throws ARGUMENT_INVALID if the name feeds another session.
   */
  static async open(log: Log, session: SessionId, name: string): Promise<Intake> {
    if (typeof name !== "string" || name === "")
      throw createArgumentError("name", name, "the name of a source");
    const state = await log.store.intakes.open(name, session);
    if (state.session === session) return new Intake(log, name, state);
    throw createArgumentError(
      "name",
      name,
      `a source of this session; it feeds ${JSON.stringify(state.session)}`,
    );
  }

  /** The last stored position; undefined before the first save. */
  get checkpoint(): Json | undefined {
    return parseStoredJson(this.#state.checkpoint);
  }

  /** The last stored progress. */
  get progress(): Json | undefined {
    return parseStoredJson(this.#state.progress);
  }

  /** The given records that have already been imported. */
  async find(records: readonly string[]): Promise<ReadonlyMap<string, TakenRecord>> {
    checkTexts("records", records);
    return this.#log.store.intakes.find(this.name, records);
  }

  /**
   * Appends items consecutively with their records, checkpoint and progress, all or nothing; returns the first seq.
   * Throws INTAKE_CONFLICT after a concurrent import, POSITION_CONFLICT if the session's head is not `expectedHead`.
   */
  async append(
    items: readonly IntakeItem[],
    options: IntakeSave & { readonly expectedHead?: number } = {},
  ): Promise<number> {
    checkList("items", items, { body: "object", record: "object?", at: "number?" });
    const { expectedHead, ...saved } = checkFields("options", options, { expectedHead: "number?" });
    const texts = serializeSave(saved);
    const ready: ReadyBody[] = [];
    try {
      for (const { body, at } of items) {
        const readying = prepareBody(this.#log, body);
        const one = readying instanceof Promise ? await readying : readying;
        ready.push(at === undefined ? one : { ...one, at });
      }
    } catch (error) {
      await this.#log.releaseHolds(ready.flatMap(({ holds }) => holds ?? []));
      throw error;
    }
    const { stamp } = this.#state;
    const records = items.map(({ record }) => record);
    const entries = await this.#log.append(this.session, ready, {
      ...dropUndefined({ expectedHead }),
      intake: { name: this.name, stamp, records, ...texts },
    });
    this.#state = { ...this.#state, ...texts, stamp: stamp + 1 };
    return entries[0]?.seq as number;
  }

  /** Stores checkpoint and progress without an append. */
  async save(saved: IntakeSave): Promise<void> {
    const texts = serializeSave(checkFields("saved", saved));
    const stamp = await this.#log.store.intakes.save(this.name, this.#state.stamp, texts);
    this.#state = { ...this.#state, ...texts, stamp };
  }

  /** Reloads the state after INTAKE_CONFLICT, including records that others imported. */
  async refresh(): Promise<void> {
    this.#state = await this.#log.store.intakes.open(this.name, this.session);
  }
}

/** The value of a stored text; undefined if there is none, or if it is damaged. */
export function parseStoredJson(text: string | undefined): Json | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    // Damaged on disk: the reader starts over, and already imported records are skipped.
    return undefined;
  }
}

function serializeSave({ checkpoint, progress }: IntakeSave): Pick<IntakeState, "checkpoint" | "progress"> {
  return dropUndefined({
    checkpoint: checkpoint !== undefined ? writeJson("checkpoint", checkpoint) : undefined,
    progress: progress !== undefined ? writeJson("progress", progress) : undefined,
  });
}

/** The text of a value; throws ARGUMENT_INVALID naming the option if JSON cannot hold it. */
export function writeJson(option: string, value: Json): string {
  try {
    const text: string | undefined = JSON.stringify(value);
    if (text !== undefined) return text;
  } catch {
    // Refused below.
  }
  throw createArgumentError(option, value, "a value that JSON can hold (no BigInt, no cycles)");
}
