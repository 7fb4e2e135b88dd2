import { toEntry } from "../log/entry-body.ts";
import type { Log } from "../log/log.ts";
import type { StoredEntry } from "../log/store/entry-store.ts";
import type { SessionId } from "../model/entry.ts";
import { isLonghaulError } from "../model/errors.ts";
import { findTouches } from "../window/effects/find-touches.ts";
import type { FileTouch } from "./rank/file-touches.ts";
import type { SourceFilter } from "./scored-chunk.ts";

/** An access with its time. */
interface TimedTouch extends FileTouch {
  readonly atMs: number;
}

interface SessionTouches {
  /** The session's end when it was read. */
  readonly seq: number;
  readonly touches: readonly TimedTouch[];
}

/** Sessions to look at, those of them to read, and messages of each. */
const MAX_NEW_SESSIONS = 50;
const MAX_NEW_CHUNKS = 64;
const MAX_SESSIONS = 6;
const MAX_MESSAGES = 400;
/** Accesses to return; earlier ones hardly count. */
const MAX_TOUCHES = 300;

/** The files that sessions touched last, from their tool calls. Holds the accesses of the sessions used last. */
export class RecentTouches {
  readonly #log: Log;
  readonly #sessions = new Map<SessionId, SessionTouches>();
  #stamp = -1;
  /** The last result over all sessions, which holds until the log has another version. */
  #all: { readonly version: string; readonly touches: readonly FileTouch[] } | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Accesses in the sessions of a scope, newest first; `stamp` is that of the index, which changes with erasures. */
  async list(filter: SourceFilter, stamp: number): Promise<readonly FileTouch[]> {
    if (stamp !== this.#stamp) {
      this.#sessions.clear();
      this.#all = undefined;
    }
    this.#stamp = stamp;
    const version = await this.#log.store.entries.version();
    if (!filter && this.#all?.version === version) return this.#all.touches;
    const touches = await this.#collect(filter);
    if (!filter) this.#all = { version, touches };
    return touches;
  }

  async #collect(filter: SourceFilter): Promise<readonly FileTouch[]> {
    const touches: TimedTouch[] = [];
    const active = await this.#findActive(filter);
    for (const { session, seq } of active) touches.push(...(await this.#read(session, seq)));
    for (const session of this.#sessions.keys())
      if (!active.some((one) => one.session === session)) this.#sessions.delete(session);
    return touches.sort((left, right) => right.atMs - left.atMs).slice(0, MAX_TOUCHES);
  }

  /** The sessions of a scope whose last entries are newest, among those created or indexed last. */
  async #findActive(filter: SourceFilter) {
    const { entries, sessions, memory } = this.#log.store;
    const { lastChunk } = await memory.state();
    const numbers = Array.from(
      { length: Math.min(MAX_NEW_CHUNKS, lastChunk) },
      (_, index) => lastChunk - index,
    );
    const indexed = await memory.sourcesByNumber([
      ...new Set((await memory.chunks(numbers)).map(({ source }) => source)),
    ]);
    const names = new Set([
      ...indexed.filter(({ kind }) => kind === "session").map(({ name }) => name),
      ...(await sessions.list({ limit: MAX_NEW_SESSIONS })).map(({ id }) => id),
    ]);
    const found: { session: SessionId; seq: number; at: number }[] = [];
    for (const session of names) {
      const source = filter && (await memory.source({ kind: "session", name: session }));
      if (filter && (source === undefined || filter[source.number] !== 1)) continue;
      const head = await entries.head(session).catch((error: unknown) => {
        // Deleted meanwhile.
        if (isLonghaulError(error, "SESSION_NOT_FOUND")) return undefined;
        throw error;
      });
      if (head) found.push({ session, ...head });
    }
    return found.sort((left, right) => right.at - left.at).slice(0, MAX_SESSIONS);
  }

  /** Reads only entries after those that are known. */
  async #read(session: SessionId, seq: number): Promise<readonly TimedTouch[]> {
    const known = this.#sessions.get(session);
    if (known?.seq === seq) return known.touches;
    const from = known && known.seq < seq ? known.seq + 1 : 1;
    const stored = await this.#log.store.entries.read(session, {
      from,
      to: seq,
      limit: MAX_MESSAGES,
      order: "descending",
      kinds: ["message"],
    });
    const added = stored.flatMap((one): TimedTouch[] => {
      return listTouches(session, one).map((touch) => ({ ...touch, atMs: one.at }));
    });
    const touches = [...added, ...(from > 1 ? (known?.touches ?? []) : [])].slice(0, MAX_TOUCHES);
    this.#sessions.set(session, { seq, touches });
    return touches;
  }
}

/** The accesses of an entry, last first. */
function listTouches(session: SessionId, stored: StoredEntry): FileTouch[] {
  try {
    const entry = toEntry(session, stored);
    if (entry.kind !== "message" || entry.message.role !== "assistant") return [];
    return entry.message.parts
      .flatMap((part) => (part.type === "tool-call" ? findTouches(part) : []))
      .flatMap(({ kind, path }) =>
        path === undefined || kind === "run" ? [] : [{ path, isEdit: kind !== "read" }],
      )
      .reverse();
  } catch (error) {
    // A damaged entry must not prevent a recall.
    if (isLonghaulError(error, "STORE_CORRUPT")) return [];
    throw error;
  }
}
