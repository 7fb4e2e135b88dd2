import { toEntry } from "../../log/body.ts";
import type { Log } from "../../log/log.ts";
import { redactEntries } from "../../log/redaction.ts";
import { checkFields } from "../../model/arguments.ts";
import { type EntryId, parseEntryId, type SessionId } from "../../model/entry.ts";
import { invalidArgument, LonghaulError, wholeNumber } from "../../model/errors.ts";
import type { Freed } from "../../store/freed.ts";
import { type PinSectionOptions, pinSection } from "./pin-section.ts";
import {
  DEFAULT_AGENT,
  memoryMessage,
  memorySessionOf,
  memoryText,
  type Remembered,
  type RememberedBy,
  rememberedOf,
} from "./remembered.ts";

export interface MemoriesOptions {
  /** Number of most recent memories that are pinned; default 10. */
  readonly pins?: number;
}

export interface MemoriesQuery {
  /** Maximum number of memories; default 100. */
  readonly limit?: number;
  /** Only memories older than this one. */
  readonly before?: EntryId;
}

const MOST_PINS = 100;
const PAGE = 256;

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
    this.session = memorySessionOf(agent);
    this.#log = log;
    this.#pins = wholeNumber("pins", pins, 0, MOST_PINS);
  }

  /**
   * Remembers a text; undefined if it is blank. `by` is "user" only if a person explicitly asked for it, never for
   * recalled, read or summarized text.
   */
  async remember(text: string, options: { readonly by: RememberedBy }): Promise<Remembered | undefined> {
    const { by } = checkFields("options", options);
    if (by !== "user" && by !== "agent") throw invalidArgument("by", by, '"user" or "agent"');
    const trimmed = memoryText(text);
    if (trimmed === undefined) return undefined;
    const ready = await this.#log.ready(memoryMessage(trimmed, by));
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
  async pins(): Promise<readonly Remembered[]> {
    return this.#pins === 0 ? [] : (await this.list({ limit: this.#pins })).toReversed();
  }

  /** The pins as a section of a prompt; undefined if there are none. */
  async pinSection(options?: PinSectionOptions): Promise<string | undefined> {
    return pinSection(await this.pins(), options);
  }

  /** Memories, newest first. */
  async list(query: MemoriesQuery = {}): Promise<readonly Remembered[]> {
    const { limit = 100, before } = checkFields("query", query);
    const most = wholeNumber("limit", limit, 1, 10_000);
    const { sessions, entries } = this.#log.store;
    let to = before === undefined ? Number.POSITIVE_INFINITY : this.#seqOf(before) - 1;
    const found: Remembered[] = [];
    if (!(await sessions.get(this.session))) return found;
    while (found.length < most && to > 0) {
      const page = await entries.read(this.session, {
        from: 1,
        to,
        limit: Math.min(PAGE, most - found.length),
        order: "descending",
        kinds: ["message"],
      });
      for (const stored of page) {
        const memory = rememberedOf(toEntry(this.session, stored));
        if (memory) found.push(memory);
      }
      const last = page.at(-1);
      if (!last) break;
      to = last.seq - 1;
    }
    return found;
  }

  /** One memory; undefined if it does not exist or was forgotten. */
  async get(which: EntryId): Promise<Remembered | undefined> {
    const seq = this.#seqOf(which);
    const { sessions, entries } = this.#log.store;
    const stored = (await sessions.get(this.session)) && (await entries.get(this.session, seq));
    return stored && rememberedOf(toEntry(this.session, stored));
  }

  /** Removes a memory and everything derived from it from disk. Throws ENTRY_NOT_FOUND if it does not exist. */
  async forget(which: EntryId): Promise<Freed> {
    const seq = this.#seqOf(which);
    if (!(await this.get(which)))
      throw new LonghaulError(
        "ENTRY_NOT_FOUND",
        `There is no memory ${which} of ${JSON.stringify(this.agent)}; memories.list() names those there are.`,
        { details: { id: which } },
      );
    return redactEntries(this.#log, this.session, [{ session: this.session, seq }], "forgotten");
  }

  #seqOf(which: EntryId): number {
    const { session, seq } = parseEntryId(which);
    if (session === this.session) return seq;
    throw invalidArgument(
      "memory",
      which,
      `a memory of ${JSON.stringify(this.agent)}, as "${this.session}#1"`,
    );
  }
}
