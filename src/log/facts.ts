import { checkKind } from "../model/argument-checks.ts";
import type { SessionId } from "../model/entry.ts";
import { createArgumentError, isLonghaulError } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import { parseStoredJson, writeJson } from "./intake.ts";
import type { Log } from "./log.ts";

/** A fact that a session has claimed. */
export interface ClaimedFact {
  readonly session: SessionId;
  readonly value: Json;
}

/** Small named facts of a session, stored apart from its log and deleted with it. */
export class Facts {
  readonly #log: Log;
  readonly #session: SessionId;

  constructor(log: Log, session: SessionId) {
    this.#log = log;
    this.#session = session;
  }

  /** The value of a fact; undefined if it was never set. */
  async get(name: string): Promise<Json | undefined> {
    return (await findClaim(this.#log, this.#buildOwnName(name)))?.value;
  }

  /** Sets a fact; of concurrent writers, the last one wins. `null` clears it. */
  async set(name: string, value: Json): Promise<void> {
    await this.#write(this.#buildOwnName(name), () => value);
  }

  /** Sets a fact to the value that a function returns for the present one; it is called again after another writer. */
  async change(name: string, change: (value: Json | undefined) => Json): Promise<void> {
    await this.#write(this.#buildOwnName(name), change);
  }

  /**
   * Sets a fact under a name that only one session of the store can have, so that `kernel.findFact` finds it. False if
   * another session has the name already.
   */
  async claim(name: string, value: Json): Promise<boolean> {
    checkKind("name", name, "name");
    return this.#write(name, () => value);
  }

  async #write(name: string, change: (value: Json | undefined) => Json): Promise<boolean> {
    const { store, limits } = this.#log;
    for (;;) {
      const { session, stamp, checkpoint } = await store.intakes.open(name, this.#session);
      if (session !== this.#session) return false;
      const text = writeJson("value", change(parseStoredJson(checkpoint)));
      if (text.length > limits.maxEntryBytes)
        throw createArgumentError("value", text, `at most ${limits.maxEntryBytes} characters as JSON`);
      try {
        await store.intakes.save(name, stamp, { checkpoint: text });
        return true;
      } catch (error) {
        // Another writer was faster; the session still exists, or `open` would fail.
        if (!isLonghaulError(error, "INTAKE_CONFLICT")) throw error;
      }
    }
  }

  /** Both parts are quoted, so that no other session and name give the same text. */
  #buildOwnName(name: string): string {
    return `fact ${JSON.stringify([this.#session, checkKind("name", name, "name")])}`;
  }
}

/** The fact that a session has claimed; undefined if none has. */
export async function findClaim(log: Log, name: string): Promise<ClaimedFact | undefined> {
  checkKind("name", name, "name");
  const state = await log.store.intakes.get(name);
  const value = parseStoredJson(state?.checkpoint);
  return state && value !== undefined ? { session: state.session, value } : undefined;
}
