import { isOfItem } from "../../log/bulkhead.ts";
import { toEntry } from "../../log/entry-body.ts";
import type { Log } from "../../log/log.ts";
import type { SourceRecord, UnembeddedChunk } from "../../log/store/memory-store.ts";
import { BoundedMap } from "../../model/base/caches.ts";
import { readSource } from "../files/read-source.ts";
import { hashChunkText } from "../text/hash-chunk-text.ts";
import { readEntryTexts } from "./entry-texts.ts";

/** The position of a chunk's text. */
export type ChunkPlace = Pick<UnembeddedChunk, "source" | "seq" | "part" | "from" | "to" | "hash">;

const CACHE_CHARACTERS = 4_000_000;
const BYTES_PER_CHARACTER = 2;
const BYTES_PER_SOURCE = 300;

/** Reads the texts of chunks from their sources; the index does not store them. */
export class ChunkTexts {
  readonly #log: Log;
  readonly #sources = new BoundedMap<number, SourceRecord>({ max: 10_000 });
  readonly #texts = new BoundedMap<string, ReadonlyMap<number, string>>({
    max: () => CACHE_CHARACTERS * this.#log.caches.share,
    weigh: countCharacters,
  });
  #stamp = "";

  constructor(log: Log) {
    this.#log = log;
  }

  /** Drops the cache if anything was committed or forgotten since, because texts may have been redacted. */
  async refresh(stamp: number): Promise<void> {
    const now = `${stamp} ${await this.#log.store.entries.version()}`;
    if (now === this.#stamp) return;
    this.#stamp = now;
    this.#texts.clear();
    this.#sources.clear();
  }

  /** Approximate bytes of cached texts and sources. */
  get cachedBytes(): number {
    return this.#texts.weight * BYTES_PER_CHARACTER + this.#sources.size * BYTES_PER_SOURCE;
  }

  drop(): void {
    this.#texts.clear();
    this.#sources.clear();
  }

  async findSource(number: number): Promise<SourceRecord | undefined> {
    const known = this.#sources.use(number);
    if (known) return known;
    const [source] = await this.#log.store.memory.sourcesByNumber([number]);
    if (source) this.#sources.set(number, source);
    return source;
  }

  /** The text of a chunk; undefined if it is gone or has changed since it was indexed. */
  async read(place: ChunkPlace): Promise<string | undefined> {
    const source = await this.findSource(place.source);
    if (!source) return undefined;
    const whole = (await this.#readTexts(source, place.seq)).get(place.part);
    if (whole === undefined) return undefined;
    const text = whole.slice(place.from, place.to);
    // Files may change; entries can only disappear.
    const isSame = source.kind === "session" || Buffer.compare(hashChunkText(text), place.hash) === 0;
    return text !== "" && isSame ? text : undefined;
  }

  /** The whole text that contains a chunk. */
  async readWhole(place: ChunkPlace): Promise<string | undefined> {
    const source = await this.findSource(place.source);
    return source && (await this.#readTexts(source, place.seq)).get(place.part);
  }

  async #readTexts(source: SourceRecord, seq: number): Promise<ReadonlyMap<number, string>> {
    const key = `${source.number} ${seq}`;
    const held = this.#texts.use(key);
    if (held) return held;
    const texts =
      source.kind === "session"
        ? await this.#readEntryTexts(source.name, seq)
        : await readFileTexts(source.name);
    this.#texts.set(key, texts);
    return texts;
  }

  async #readEntryTexts(session: string, seq: number): Promise<ReadonlyMap<number, string>> {
    const stored = await this.#log.store.entries.get(session, seq);
    if (!stored) return new Map();
    try {
      const texts = await readEntryTexts(toEntry(session, stored), (part) => this.#log.blobs.restore(part));
      return new Map(texts.map(({ part, text }) => [part, text]));
    } catch (error) {
      // An entry that cannot be read must not hide the other hits.
      if (!isOfItem(error)) throw error;
      return new Map();
    }
  }
}

/** An entry without texts counts too. */
function countCharacters(texts: ReadonlyMap<number, string>): number {
  let sum = 1;
  for (const text of texts.values()) sum += text.length;
  return sum;
}

async function readFileTexts(path: string): Promise<ReadonlyMap<number, string>> {
  try {
    return new Map([[0, (await readSource(path)).text]]);
  } catch {
    return new Map();
  }
}
