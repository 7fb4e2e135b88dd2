import { BoundedCache } from "../../model/bounded-cache.ts";
import { type Entry, type EntryId, parseEntryId, type SessionId } from "../../model/entry.ts";
import { isLonghaulError } from "../../model/errors.ts";
import type { BlobPart, Part } from "../../model/part.ts";
import type { SessionRecord } from "../../store/session-store.ts";
import type { FileHit, Hit, Recall } from "../hit.ts";
import type { Memories } from "../memories/memories.ts";
import { MAX_MEMORY_BYTES } from "../memories/remembered.ts";
import type { Memory, RecallOptions } from "../memory.ts";
import type { MemoryScope } from "../scope.ts";
import { fenceData } from "./fence.ts";
import { quoteLines } from "./harmless.ts";
import { provenanceOf, referenceOf } from "./provenance.ts";
import { isSessionInScope } from "./session-in-scope.ts";
import { shownEntries } from "./shown-entries.ts";
import { shownHits, unindexedWords } from "./shown-hits.ts";

/** What an agent's memory is made of. */
export interface AgentMemoryParts {
  readonly memory: Pick<Memory, "recall" | "expand">;
  readonly memories: Memories;
  readonly find: (session: SessionId) => Promise<SessionRecord | undefined>;
  /** What a summary or a cut stands for. */
  readonly originals: (entry: EntryId) => AsyncIterable<Entry>;
  readonly restore: (part: BlobPart) => Promise<Part>;
  /** What the agent may look at besides its own memories; everything but other agents' memories by default. */
  readonly scope?: MemoryScope;
  /** Whether the agent may also forget what the user had remembered; false by default. */
  readonly mayForgetUsers?: boolean;
}

/** How much is shown around something. */
export interface AgentExpandOptions {
  /** Messages before and after; default 1. */
  readonly around?: number;
  /** Characters of the message that are passed over, to read on in a long one. */
  readonly from?: number;
}

const MOST_SHOWN_FILES = 500;
const MOST_ORIGINALS = 30;

/**
 * Memory as an agent uses it, in words for a model: short answers first, details on request, whatever was stored between
 * fences. What the agent saves is marked as its own; it sees nothing outside of its scope.
 */
export class AgentMemory {
  readonly #parts: AgentMemoryParts;
  /** Stretches of files that were shown, so that they can be asked for again. */
  readonly #files = new BoundedCache<string, FileHit>({ maxWeight: MOST_SHOWN_FILES });

  constructor(parts: AgentMemoryParts) {
    this.#parts = parts;
  }

  /** What memory holds on a question, a line a hit. */
  async recall(
    question: string,
    { k = 6, signal, waitMs }: Pick<RecallOptions, "k" | "signal" | "waitMs"> = {},
  ): Promise<string> {
    if (question.trim() === "") return "Nothing was asked; say what you look for.";
    const options = { ...(signal && { signal }), ...(waitMs !== undefined && { waitMs }) };
    const { hits, isSure, unindexed } = await this.#search(question, k, options);
    for (const hit of hits) if (hit.kind === "file") this.#files.set(referenceOf(hit), hit);
    const shown = shownHits(question, hits, isSure);
    return unindexed === undefined ? shown : `${shown}\n${unindexedWords(unindexed)}`;
  }

  /** A hit in full with what was said around it, or what a summary stands for. */
  async expand(reference: string, options: AgentExpandOptions = {}): Promise<string> {
    const wanted = reference.trim();
    const file = this.#files.get(wanted);
    if (file) return expandedFile(file);
    const entry = await this.#entryNamed(wanted);
    if (typeof entry === "string") return entry;
    const { memory, originals, restore } = this.#parts;
    if (entry.kind === "redacted") return `${wanted} was removed on request.`;
    if (entry.kind === "damaged") return `${wanted} is damaged on disk and cannot be read.`;
    if (entry.kind !== "overlay") {
      const entries = await memory.expand(entry.id, { around: options.around ?? 1 });
      return shownEntries(entries, restore, { of: entry.id, from: options.from ?? 0 });
    }
    const behind: Entry[] = [];
    for await (const original of originals(entry.id)) {
      if (behind.length === MOST_ORIGINALS) break;
      behind.push(original);
    }
    return shownEntries(behind, restore, { from: 0 });
  }

  /** Remembers something as a note of the agent. */
  async save(text: string): Promise<string> {
    const { memories } = this.#parts;
    const same = (await memories.pins()).find((pin) => pin.text === text.trim());
    if (same) return `Remembered already, as ${same.id}.`;
    try {
      const saved = await memories.remember(text, { by: "agent" });
      return saved ? `Remembered as ${saved.id}.` : "Nothing was remembered: the text is blank.";
    } catch (error) {
      if (!isLonghaulError(error, "ARGUMENT_INVALID")) throw error;
      return `Not remembered: a memory has at most ${MAX_MEMORY_BYTES} bytes. Save the facts, one by one, in few words.`;
    }
  }

  /** Forgets a memory of the agent's own. */
  async forget(reference: string): Promise<string> {
    const { memories, mayForgetUsers = false } = this.#parts;
    const wanted = reference.trim();
    const place = placeOf(wanted);
    if (place?.session !== memories.session)
      return `${wanted} is no memory of yours; only those saved by save_memory (${memories.session}#…) can be forgotten.`;
    const known = await memories.get(wanted);
    if (!known) return `There is no memory ${wanted}.`;
    if (known.by === "user" && !mayForgetUsers)
      return `${wanted} was remembered by the user, and only the user can have it forgotten. Tell them its reference.`;
    await memories.forget(wanted);
    return `Forgotten: ${wanted}.`;
  }

  async #search(
    question: string,
    k: number,
    options: Pick<RecallOptions, "signal" | "waitMs">,
  ): Promise<Recall> {
    const { memory, memories, scope } = this.#parts;
    if (scope === undefined) {
      // Some hits may be memories of others, which are not shown.
      const found = await memory.recall(question, { ...options, k: k * 2 });
      const isOwn = (hit: Hit) =>
        hit.kind === "file" || isSessionInScope({ id: hit.session }, memories.agent, undefined);
      return { ...found, hits: found.hits.filter(isOwn).slice(0, k) };
    }
    const others = await memory.recall(question, { ...options, k, scope });
    const own = await memory.recall(question, { ...options, k, scope: { sessions: [memories.session] } });
    return merged(others, own, k);
  }

  async #entryNamed(reference: string): Promise<Entry | string> {
    const { memory, memories, find, scope } = this.#parts;
    const place = placeOf(reference);
    if (!place)
      return `${JSON.stringify(reference.slice(0, 80))} is no reference; use one that recall has shown, as chat#12.`;
    const record = await find(place.session);
    // An agent is not told what there is outside of its scope.
    const isInScope = record && isSessionInScope(record, memories.agent, scope);
    const [entry] = isInScope ? await memory.expand(reference, { around: 0 }) : [];
    return entry ?? `There is no entry ${reference}.`;
  }
}

function placeOf(reference: string): ReturnType<typeof parseEntryId> | undefined {
  try {
    return parseEntryId(reference);
  } catch (error) {
    if (isLonghaulError(error, "ARGUMENT_INVALID")) return undefined;
    throw error;
  }
}

/** Scores count within one recall only: each list is scaled to how much of the question it has found. */
function merged(one: Recall, other: Recall, k: number): Recall {
  const scaled = [one, other].flatMap(({ hits, certainty }) => {
    const best = Math.max(1e-9, hits[0]?.score ?? 0);
    return hits.map((hit) => ({ hit, weight: (certainty * hit.score) / best }));
  });
  scaled.sort((left, right) => right.weight - left.weight);
  return {
    hits: scaled.slice(0, k).map(({ hit }) => hit),
    certainty: Math.max(one.certainty, other.certainty),
    isSure: one.isSure || other.isSure,
    ...(one.unindexed !== undefined && { unindexed: one.unindexed }),
  };
}

function expandedFile(hit: FileHit): string {
  const lines = quoteLines(hit.text.trimEnd(), (index) => `${hit.lines.first + index}|`);
  return fenceData("memory-data", `[1] ${provenanceOf(hit)}\n${lines}`);
}
