import { toEntry } from "../../log/entry-body.ts";
import type { Log } from "../../log/log.ts";
import type { SessionId } from "../../model/entry.ts";
import { type MemoryLedger, readMemoryLedger } from "./memory-ledger.ts";
import { isMemoryAdmitted, type MemoryFilter } from "./memory-trust.ts";
import { findMemoryAgent, type StoredMemory } from "./stored-memory.ts";

/** Provenance and state of a recalled memory. */
export type RecalledMemory = Pick<StoredMemory, "by" | "trust" | "from" | "until" | "source">;

/** Decides for one recall which entries of memory sessions it may return. */
export class RecallableMemories {
  readonly #log: Log;
  readonly #filter: MemoryFilter;
  readonly #ledgers = new Map<SessionId, Promise<MemoryLedger | undefined>>();

  constructor(log: Log, filter: MemoryFilter = {}) {
    this.#log = log;
    this.#filter = filter;
  }

  /** The memory at a place; "hidden" if it must not be returned, undefined if the entry there is not a memory. */
  async find(session: SessionId, seq: number): Promise<RecalledMemory | "hidden" | undefined> {
    if (findMemoryAgent(session) === undefined) return undefined;
    const ledger = await this.#readLedger(session);
    const stored = await this.#log.store.entries.get(session, seq);
    // An erased entry has nothing to hide.
    if (stored?.kind === "redacted") return undefined;
    if (!ledger || !stored || ledger.isForgotten(seq) || !ledger.isOnLine(seq)) return "hidden";
    const memory = ledger.findMemory(toEntry(session, stored));
    if (!memory) return undefined;
    const now = this.#log.clock.now();
    if (!isMemoryAdmitted(memory, this.#filter, now)) return "hidden";
    const { id: _id, at: _at, text: _text, ...state } = memory;
    return state;
  }

  #readLedger(session: SessionId): Promise<MemoryLedger | undefined> {
    const known = this.#ledgers.get(session) ?? readMemoryLedger(this.#log, session);
    this.#ledgers.set(session, known);
    return known;
  }
}
