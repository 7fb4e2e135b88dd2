import { toEntry } from "../../log/entry-body.ts";
import type { Log } from "../../log/log.ts";
import { redactEntries } from "../../log/redaction.ts";
import type { ReadyBody } from "../../log/spilled-parts.ts";
import { type FreedCounts, NOTHING_FREED } from "../../log/store/freed-counts.ts";
import { checkFields } from "../../model/argument-checks.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { type Entry, type EntryId, parseEntryId, type SessionId } from "../../model/entry.ts";
import { checkWholeNumber, createArgumentError } from "../../model/errors.ts";
import { normalizeValue } from "../../model/sentences.ts";
import { findSessionOwner, MEMORY_PREFIX } from "../../model/session-key.ts";
import { isWithinProject } from "../../model/session-origin.ts";
import { type MemoryChange, toChangeBody } from "./memory-change.ts";
import { createMemoryNotFound, createMemoryRefusal } from "./memory-errors.ts";
import { type MemoryEvent, readMemoryEntries, readMemoryHistory } from "./memory-history.ts";
import { MemoryLedger, type RefusalReason, readMemoryChanges, readMemoryLedger } from "./memory-ledger.ts";
import { sortByRank } from "./memory-order.ts";
import {
  checkMemoryFilter,
  checkValidity,
  isMemoryAdmitted,
  type MemoryFilter,
  type Validity,
} from "./memory-trust.ts";
import { type MemoryPlace, moveMemory } from "./move-memory.ts";
import { type PinSectionOptions, renderPinSection } from "./pin-section.ts";
import { RecallableMemories } from "./recallable-memories.ts";
import {
  checkMemoryText,
  DEFAULT_AGENT,
  parseStoredMemory,
  type RememberOptions,
  type StoredMemory,
  toMemoryMessage,
  toMemorySession,
} from "./stored-memory.ts";
import { computeSentenceKeys, computeValueKey, createSalt } from "./value-key.ts";

export interface MemoriesOptions {
  /** Number of most recent memories that are pinned; default 10. */
  readonly pins?: number;
}

interface MemoriesQuery extends MemoryFilter {
  /** Maximum number of memories; default 100. */
  readonly limit?: number;
  /** Only memories after this one in the order. */
  readonly before?: EntryId;
  /** Only memories of agents that no person has accepted or rejected. */
  readonly isUnreviewed?: boolean;
}

/** Who asks for a change; default "user". */
interface ChangeOptions {
  readonly by?: "user" | "agent";
}

/** For whom pins are read. */
interface PinsQuery {
  /** The folder of the project that shows them, null if it is unknown; default: those of all projects. */
  readonly project?: string | null | undefined;
  /** These memories in this order instead of the pins, even if they no longer hold; forgotten ones are left out. */
  readonly ids?: readonly EntryId[] | undefined;
}

const MAX_AGENTS = 1_000;

const MAX_PINS = 100;

const MAX_LISTED = 10_000;

const AUTHORS: readonly unknown[] = ["user", "agent", "quoted"];

/**
 * The memories of one agent: texts that the user asked to remember, and the agent's own notes. They are stored in a
 * session of their own, with every change to them, so that they survive restarts and recall finds them. The most recent
 * ones are pins. A handle holds no resources; several may be open.
 */
export class Memories {
  readonly agent: string;
  readonly session: SessionId;
  readonly #log: Log;
  readonly #pins: number;

  constructor(log: Log, agent: string = DEFAULT_AGENT, options: MemoriesOptions = {}) {
    const { pins = 10 } = checkFields("options", options);
    this.agent = agent;
    this.session = toMemorySession(agent);
    this.#log = log;
    this.#pins = checkWholeNumber("pins", pins, 0, MAX_PINS);
  }

  /**
   * Remembers a text; undefined if it is blank. Throws MEMORY_REFUSED if the same value was forgotten or rejected,
   * unless the user asks for it, which makes the value welcome again.
   */
  async remember(text: string, options: RememberOptions): Promise<StoredMemory | undefined> {
    const { by, source, project, from, until } = checkFields("options", options, {
      source: "name?",
      project: "name?",
    });
    if (!AUTHORS.includes(by)) throw createArgumentError("by", by, '"user", "agent" or "quoted"');
    const dates = checkValidity(dropUndefined({ from, until }));
    const trimmed = checkMemoryText(text);
    if (trimmed === undefined) return undefined;
    const ready = await this.#log.prepare(
      toMemoryMessage(trimmed, { by, ...dropUndefined({ source, project }), ...dates }),
    );
    const { ledger, head } = await this.#readState();
    const keys = ledger.listRefusedKeys(trimmed);
    const refusal =
      ledger.findRefusal(trimmed) ?? (by === "user" ? undefined : await this.#findOthersRefusal(trimmed));
    if (refusal !== undefined && by !== "user") throw createMemoryRefusal(this.agent, refusal);
    if (by !== "user" && (await this.#log.erased.hasErased(this.session, trimmed)))
      throw createMemoryRefusal(this.agent, "forgotten");
    const lifted: readonly ReadyBody[] =
      keys.length === 0 ? [] : [{ body: toChangeBody({ change: "restored", by: "user", keys }) }];
    const entries = await this.#log.append(this.session, [...lifted, ready], {
      create: this.#describeSession(),
    });
    const entry = entries.at(-1) as Entry;
    if (by !== "user") await this.#dropIfRefused(trimmed, ledger, { from: head + 1, to: entry.seq - 1 });
    return parseStoredMemory(entry);
  }

  /** True if it is known without a read that the agent has no memories; false if they must be read. */
  get isKnownEmpty(): boolean {
    const known = this.#log.store.sessions.peek?.(this.session);
    return known !== undefined && known.record === undefined;
  }

  /**
   * The most recent memories that hold now, oldest first, for every window: those of the user, and, in a room of the same
   * size, notes of agents that no person has accepted. Notes are shown in their own project; quotes must be accepted
   * first.
   */
  async pins(query: PinsQuery = {}): Promise<readonly StoredMemory[]> {
    const { project } = checkFields("query", query);
    if (typeof project !== "string" && project !== undefined && project !== null)
      throw createArgumentError("project", project, "a folder, or null if it is unknown");
    if (this.#pins === 0 || this.isKnownEmpty) return [];
    const ledger = await readMemoryLedger(this.#log, this.session);
    if (!ledger) return [];
    const base = { session: this.session, ledger, limit: this.#pins };
    const own = await listMemories(this.#log, { ...base, filter: { trust: "user" } });
    const notes = await listMemories(this.#log, {
      ...base,
      filter: { trust: "agent" },
      accepts: (memory) => memory.trust === "agent" && isShownIn(memory, project),
    });
    const rank = ({ id }: StoredMemory) => ledger.rankOf(parseEntryId(id).seq);
    return [...own, ...notes].toSorted((one, other) => rank(one) - rank(other));
  }

  /** The pins as a section of a prompt; undefined if there are none. */
  async pinSection(given: PinSectionOptions & PinsQuery = {}): Promise<string | undefined> {
    const { project, ids, ...options } = checkFields("options", given);
    if (ids === undefined)
      return renderPinSection(await this.pins(project === undefined ? {} : { project }), options);
    const chosen: StoredMemory[] = [];
    for (const id of ids) {
      const memory = await this.get(id);
      if (memory) chosen.push(memory);
    }
    return renderPinSection(chosen, options);
  }

  /** Memories in their order, newest first unless they were moved: by default those that hold now and were not rejected. */
  async list(query: MemoriesQuery = {}): Promise<readonly StoredMemory[]> {
    const { limit = 100, before, isUnreviewed } = checkFields("query", query, { isUnreviewed: "boolean?" });
    const filter = checkMemoryFilter("query", query);
    const most = checkWholeNumber("limit", limit, 1, MAX_LISTED);
    const end = before === undefined ? undefined : this.#requireSeq(before);
    const ledger = await readMemoryLedger(this.#log, this.session);
    if (!ledger) return [];
    const below = end === undefined ? {} : { below: ledger.rankOf(end) };
    const listing = { session: this.session, ledger, filter, limit: most, isUnreviewed, ...below };
    return listMemories(this.#log, listing);
  }

  /** Moves a memory directly above or below another one, or to the top; the first ones are the pins. */
  async move(which: EntryId, to: MemoryPlace): Promise<StoredMemory> {
    await moveMemory(this.#log, this, which, to);
    return this.#requireMemory(which);
  }

  /** One memory in any state; undefined if it does not exist, was forgotten, or was rewound. */
  async get(which: EntryId): Promise<StoredMemory | undefined> {
    const ledger = await readMemoryLedger(this.#log, this.session);
    const entry = await this.#findEntry(which);
    return entry && ledger?.findMemory(entry);
  }

  /** A memory and all others with its value, in any state, newest first; `forget` removes them together. */
  async listSame(which: EntryId): Promise<readonly StoredMemory[]> {
    return listSameMemories(this.#log, this.session, (await this.#requireMemory(which)).text);
  }

  /** True if recall may return the entry: not forgotten or rewound, and no memory that is rejected or out of date. */
  async isRecallable(seq: number): Promise<boolean> {
    checkWholeNumber("seq", seq, 1);
    return (await new RecallableMemories(this.#log).find(this.session, seq)) !== "hidden";
  }

  /**
   * Accepts or rejects a memory: an accepted one counts as the user's, a rejected one is neither shown nor recalled,
   * and agents cannot save its value again. Applies to all notes of agents with the same value.
   */
  async review(which: EntryId, decision: "accepted" | "rejected"): Promise<StoredMemory> {
    if (decision !== "accepted" && decision !== "rejected")
      throw createArgumentError("decision", decision, '"accepted" or "rejected"');
    const memory = await this.#requireMemory(which);
    const same = await listSameMemories(this.#log, this.session, memory.text);
    const targets = same.filter(({ id, by }) => id === which || by !== "user");
    const { ledger } = await this.#readState();
    const key = computeValueKey(memory.text, ledger.salt ?? createSalt());
    const by = "user";
    await this.#write(
      targets.map((target) => {
        const of = this.#requireSeq(target.id);
        return decision === "accepted"
          ? { change: decision, of, by }
          : { change: decision, of, by, key, sentences: computeSentenceKeys(memory.text, key.salt) };
      }),
    );
    return this.#requireMemory(which);
  }

  /** Changes the time during which a memory holds; without dates it always holds. */
  async setValidity(which: EntryId, validity: Validity): Promise<StoredMemory> {
    const dates = checkValidity(checkFields("validity", validity));
    await this.#requireMemory(which);
    await this.#write([{ change: "dated", of: this.#requireSeq(which), by: "user", ...dates }]);
    return this.#requireMemory(which);
  }

  /** The changes to all memories, newest first. Texts that were erased are missing from it. */
  async history(query: { readonly limit?: number } = {}): Promise<readonly MemoryEvent[]> {
    const { limit = 100 } = checkFields("query", query);
    return readMemoryHistory(this.#log, this.session, checkWholeNumber("limit", limit, 1, MAX_LISTED));
  }

  /**
   * Removes a memory, all others with the same value, and everything derived from them from disk; agents cannot save
   * the value again. Throws ENTRY_NOT_FOUND if there is no such memory.
   */
  async forget(which: EntryId, options: ChangeOptions = {}): Promise<FreedCounts> {
    const { by = "user" } = checkFields("options", options);
    if (by !== "user" && by !== "agent") throw createArgumentError("by", by, '"user" or "agent"');
    const entry = await this.#findEntry(which);
    const memory = entry && parseStoredMemory(entry);
    if (!memory) throw createMemoryNotFound(this.agent, which);
    return this.#erase(by, memory.text);
  }

  /** Forgets every memory of the agent. */
  async forgetAll(): Promise<FreedCounts> {
    return this.#erase("user");
  }

  /**
   * Forgets the memories with the value of a text, or all. Records it first: if the process dies in between, they count
   * as forgotten. Reads the list again afterwards, because an agent may have saved the value before the record.
   */
  async #erase(by: "user" | "agent", text?: string): Promise<FreedCounts> {
    const listSeqs = async () => {
      const same = await listSameMemories(this.#log, this.session, text);
      return same.map((memory) => ({ seq: this.#requireSeq(memory.id), text: memory.text }));
    };
    const targets = await listSeqs();
    if (targets.length === 0) return NOTHING_FREED;
    const { ledger } = await this.#readState();
    const salt = ledger.salt ?? createSalt();
    const recordSeq = await this.#write(
      targets.map((target) => {
        const key = computeValueKey(target.text, salt);
        const sentences = computeSentenceKeys(target.text, salt);
        return { change: "forgotten", of: target.seq, by, key, ...(sentences.length > 0 && { sentences }) };
      }),
    );
    const places = (await listSeqs()).map(({ seq }) => ({ session: this.session, seq }));
    return redactEntries(
      this.#log,
      this.session,
      places.filter(({ seq }) => seq < recordSeq),
      "forgotten",
    );
  }

  /** Appends changes and returns the seq of the first. */
  async #write(changes: readonly MemoryChange[]): Promise<number> {
    const bodies = changes.map((change) => ({ body: toChangeBody(change) }));
    const [first] = await this.#log.append(this.session, bodies);
    return (first as Entry).seq;
  }

  /** Erases a memory whose value was forgotten or rejected while it was being written. */
  async #dropIfRefused(
    text: string,
    ledger: MemoryLedger,
    between: { readonly from: number; readonly to: number },
  ): Promise<void> {
    if (between.to < between.from) return;
    for await (const change of readMemoryChanges(this.#log, this.session, between)) ledger.add(change);
    const refusal = ledger.findRefusal(text);
    if (refusal === undefined) return;
    await redactEntries(this.#log, this.session, [{ session: this.session, seq: between.to + 1 }], refusal);
    throw createMemoryRefusal(this.agent, refusal);
  }

  /** Why another agent of the same person may not save a text: a value is forgotten for the person. */
  async #findOthersRefusal(text: string): Promise<RefusalReason | undefined> {
    const owner = findSessionOwner(this.session);
    const { sessions } = this.#log.store;
    for (const { id } of await sessions.list({ prefix: MEMORY_PREFIX, limit: MAX_AGENTS })) {
      if (id === this.session || findSessionOwner(id) !== owner) continue;
      const refusal = (await readMemoryLedger(this.#log, id))?.findRefusal(text);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }

  /** The ledger, and a seq that it covers at least. */
  async #readState(): Promise<{ readonly ledger: MemoryLedger; readonly head: number }> {
    const { sessions, entries } = this.#log.store;
    const isThere = (await sessions.get(this.session)) !== undefined;
    const head = isThere ? (await entries.head(this.session)).seq : 0;
    const ledger = await readMemoryLedger(this.#log, this.session);
    return { ledger: ledger ?? new MemoryLedger(this.session, []), head };
  }

  async #findEntry(which: EntryId): Promise<Entry | undefined> {
    const seq = this.#requireSeq(which);
    const { sessions, entries } = this.#log.store;
    const stored = (await sessions.get(this.session)) && (await entries.get(this.session, seq));
    return stored && toEntry(this.session, stored);
  }

  async #requireMemory(which: EntryId): Promise<StoredMemory> {
    const memory = await this.get(which);
    if (!memory) throw createMemoryNotFound(this.agent, which);
    return memory;
  }

  #requireSeq(which: EntryId): number {
    const { session, seq } = parseEntryId(which);
    if (session === this.session) return seq;
    throw createArgumentError(
      "memory",
      which,
      `a memory of ${JSON.stringify(this.agent)}, as "${this.session}#1"`,
    );
  }

  #describeSession() {
    return {
      id: this.session,
      createdAt: this.#log.clock.now(),
      title: `Memories of ${this.agent}`,
      meta: { agent: this.agent },
    };
  }
}

/** True if a note of an agent may be shown in a project: in its own, or where neither is known. */
function isShownIn({ project: own }: StoredMemory, project: string | null | undefined): boolean {
  if (project === undefined) return true;
  if (project === null || own === undefined) return project === null && own === undefined;
  return isWithinProject(project, own);
}

/** Memories with the same value as a text, or all without a text, in whatever state; newest first. */
async function listSameMemories(
  log: Log,
  session: SessionId,
  text?: string,
): Promise<readonly StoredMemory[]> {
  const value = text === undefined ? undefined : normalizeValue(text);
  const same: StoredMemory[] = [];
  if (!(await log.store.sessions.get(session))) return same;
  for await (const entry of readMemoryEntries(log, session, ["message"])) {
    const memory = parseStoredMemory(entry);
    if (memory && (value === undefined || normalizeValue(memory.text) === value)) same.push(memory);
  }
  return same;
}

/** A part of the memories of one session. */
interface MemoryListing {
  readonly session: SessionId;
  readonly ledger: MemoryLedger;
  readonly filter: MemoryFilter;
  readonly limit: number;
  /** Only memories with a rank below this one. */
  readonly below?: number;
  /** Only memories of agents that no person has accepted or rejected. */
  readonly isUnreviewed?: boolean | undefined;
  /** Only memories that pass. */
  readonly accepts?: (memory: StoredMemory) => boolean;
}

const MAX_PAGE = 256;
const MIN_PAGE = 16;

/** Lists memories in their order: the newest first, apart from those that were moved. */
async function listMemories(log: Log, listing: MemoryListing): Promise<readonly StoredMemory[]> {
  const { ledger, filter, limit, isUnreviewed, accepts } = listing;
  const found: StoredMemory[] = [];
  const now = log.clock.now();
  for await (const entry of readInOrder(log, listing)) {
    const memory = ledger.findMemory(entry);
    if (!memory || !isMemoryAdmitted(memory, filter, now)) continue;
    if (isUnreviewed && (memory.by === "user" || ledger.isReviewed(entry.seq))) continue;
    if (accepts?.(memory) === false) continue;
    found.push(memory);
    if (found.length === limit) break;
  }
  return found;
}

/** Merges the moved memories, which are few, into the others, which are read from the newest on. */
async function* readInOrder(
  log: Log,
  { session, ledger, limit, below = Number.POSITIVE_INFINITY }: MemoryListing,
): AsyncGenerator<Entry> {
  const moved = sortByRank(ledger.listMoved().filter(({ rank }) => rank < below));
  const read = async (seq: number) => {
    const stored = await log.store.entries.get(session, seq);
    return stored?.kind === "message" ? [toEntry(session, stored)] : [];
  };
  let next = 0;
  const pageSize = Math.min(MAX_PAGE, Math.max(MIN_PAGE, limit));
  for await (const entry of readMemoryEntries(log, session, ["message"], Math.ceil(below), pageSize)) {
    if (ledger.isMoved(entry.seq)) continue;
    for (let one = moved[next]; one && one.rank > entry.seq; one = moved[++next]) yield* await read(one.seq);
    yield entry;
  }
  for (const { seq } of moved.slice(next)) yield* await read(seq);
}
