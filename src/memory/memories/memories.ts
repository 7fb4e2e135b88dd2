import { toEntry } from "../../log/entry-body.ts";
import type { Log } from "../../log/log.ts";
import { redactEntries } from "../../log/redaction.ts";
import { checkFields } from "../../model/argument-checks.ts";
import { type EntryId, parseEntryId, type SessionId } from "../../model/entry.ts";
import { checkWholeNumber, createArgumentError, LonghaulError } from "../../model/errors.ts";
import type { FreedCounts } from "../../store/freed-counts.ts";
import { type PinSectionOptions, renderPinSection } from "./pin-section.ts";
import {
  checkMemoryText,
  DEFAULT_AGENT,
  type MemoryAuthor,
  parseRememberedFact,
  type RememberedFact,
  toMemoryMessage,
  toMemorySession,
} from "./remembered-fact.ts";

export interface MemoriesOptions {
  /** Number of most recent memories that are pinned; default 10. */
  readonly pins?: number;
}

interface MemoriesQuery {
  /** Maximum number of memories; default 100. */
  readonly limit?: number;
  /** Only memories older than this one. */
  readonly before?: EntryId;
}

const MAX_PINS = 100;
const PAGE_SIZE = 256;

/**
 * The memories of one agent: texts that the user asked to remember, and the agent's own notes. They are stored in a
 * session of their own, so that they survive restarts and recall finds them. The most recent ones are pins. A handle
 * holds no resources; several may be open.
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
   * Remembers a text; undefined if it is blank. `by` is "user" only if a person explicitly asked for it, never for
   * recalled, read or summarized text.
   */
  async remember(text: string, options: { readonly by: MemoryAuthor }): Promise<RememberedFact | undefined> {
    const { by } = checkFields("options", options);
    if (by !== "user" && by !== "agent") throw createArgumentError("by", by, '"user" or "agent"');
    const trimmed = checkMemoryText(text);
    if (trimmed === undefined) return undefined;
    const ready = await this.#log.prepare(toMemoryMessage(trimmed, by));
    const create = {
      id: this.session,
      createdAt: this.#log.clock.now(),
      title: `Memories of ${this.agent}`,
      meta: { agent: this.agent },
    };
    const entry = await this.#log.appendOne(this.session, ready, { create });
    return { id: entry.id, at: entry.at, text: trimmed, by };
  }

  /** The most recent memories, oldest first; every window shows them. */
  async pins(): Promise<readonly RememberedFact[]> {
    return this.#pins === 0 ? [] : (await this.list({ limit: this.#pins })).toReversed();
  }

  /** The pins as a section of a prompt; undefined if there are none. */
  async pinSection(options?: PinSectionOptions): Promise<string | undefined> {
    return renderPinSection(await this.pins(), options);
  }

  /** Memories, newest first. */
  async list(query: MemoriesQuery = {}): Promise<readonly RememberedFact[]> {
    const { limit = 100, before } = checkFields("query", query);
    const most = checkWholeNumber("limit", limit, 1, 10_000);
    const { sessions, entries } = this.#log.store;
    let to = before === undefined ? Number.POSITIVE_INFINITY : this.#requireSeq(before) - 1;
    const found: RememberedFact[] = [];
    if (!(await sessions.get(this.session))) return found;
    while (found.length < most && to > 0) {
      const page = await entries.read(this.session, {
        from: 1,
        to,
        limit: Math.min(PAGE_SIZE, most - found.length),
        order: "descending",
        kinds: ["message"],
      });
      for (const stored of page) {
        const memory = parseRememberedFact(toEntry(this.session, stored));
        if (memory) found.push(memory);
      }
      const last = page.at(-1);
      if (!last) break;
      to = last.seq - 1;
    }
    return found;
  }

  /** One memory; undefined if it does not exist or was forgotten. */
  async get(which: EntryId): Promise<RememberedFact | undefined> {
    const seq = this.#requireSeq(which);
    const { sessions, entries } = this.#log.store;
    const stored = (await sessions.get(this.session)) && (await entries.get(this.session, seq));
    return stored && parseRememberedFact(toEntry(this.session, stored));
  }

  /** Removes a memory and everything derived from it from disk. Throws ENTRY_NOT_FOUND if it does not exist. */
  async forget(which: EntryId): Promise<FreedCounts> {
    const seq = this.#requireSeq(which);
    if (!(await this.get(which)))
      throw new LonghaulError(
        "ENTRY_NOT_FOUND",
        `There is no memory ${which} of ${JSON.stringify(this.agent)}; memories.list() names those there are.`,
        { details: { id: which } },
      );
    return redactEntries(this.#log, this.session, [{ session: this.session, seq }], "forgotten");
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
}
