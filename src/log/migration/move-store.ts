import { createHash } from "node:crypto";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { Digest } from "../../model/blob.ts";
import type { SessionId } from "../../model/entry.ts";
import { isLonghaulError, LonghaulError, throwIfAborted } from "../../model/errors.ts";
import type { TaskId } from "../../model/task.ts";
import { findBodyBlobs } from "../blobs.ts";
import { decodeStoredBody } from "../entry-body.ts";
import type { NewEntry, StoredEntry, Tombstone } from "../store/entry-store.ts";
import type { SessionRecord } from "../store/session-store.ts";
import type { Store } from "../store/store.ts";
import type { TaskRecord } from "../store/task-store.ts";

const MAX_STEP_BYTES = 4 * 1024 * 1024;

const HEADS_PER_PAGE = 500;

/** Marks a target that a move has begun to fill; never expires. */
const MARKER = "moved-from-another-store";
const NEVER_MS = 8_640_000_000_000_000;

/** Progress of a move. */
export interface MoveProgress {
  readonly phase: "copying" | "verifying";
  readonly sessions: number;
  readonly totalSessions: number;
  readonly entries: number;
}

/** Options of a move. */
export interface MoveOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: MoveProgress) => void;
}

/** Result of a move. Content is counted as it is in the target; the rest says what this run did. */
export interface MoveReport {
  readonly sessions: number;
  readonly entries: number;
  /** SHA-256 over all sessions and entries, computed from both stores and equal. */
  readonly digest: Digest;
  readonly copiedEntries: number;
  readonly copiedBlobs: number;
  readonly intakes: number;
  readonly tasks: number;
  /** Entries that were redacted in the source after they had been copied, and now are in the target too. */
  readonly redacted: number;
  /** Blobs that the source has lost or that are damaged there; their entries were copied without them. */
  readonly damagedBlobs: readonly Digest[];
  /** Sessions of the target that the source does not have, any more or ever; they were left alone. */
  readonly onlyInTarget: readonly SessionId[];
  /** True if others wrote to the source meanwhile: run the move again after they have stopped. */
  readonly isBehind: boolean;
}

/**
 * Copies a store into another one, while others continue writing to the source. It may be stopped at any time and goes
 * on where it was; every entry is compared in the end. The index is derived, and the target builds its own.
 */
export async function moveStore(from: Store, to: Store, options: MoveOptions = {}): Promise<MoveReport> {
  const { signal } = options;
  await markTarget(to);
  await moveKeys(from, to);
  const mover = new SessionMover(from, to, signal);
  const version = await from.entries.version();
  let done = 0;
  let totalSessions = await countSessions(from);
  const tell = (phase: MoveProgress["phase"], entries: number) =>
    options.onProgress?.({ phase, sessions: done, totalSessions, entries });
  for await (const { session, seq } of listHeads(from)) {
    throwIfAborted(signal);
    await mover.move(session, seq, (entries) => tell("copying", entries));
    done++;
    tell("copying", mover.copiedEntries);
  }
  const intakes = await moveIntakes(from, to, signal);
  const tasks = await moveTasks(from, to, signal);
  await moveTeam(from, to);
  await moveLedger(from, to, signal);
  const hash = createHash("sha256");
  const known = new Set<SessionId>();
  const totals = { sessions: 0, entries: 0, redacted: 0 };
  totalSessions = done;
  done = 0;
  for await (const { session, seq } of listHeads(to)) {
    throwIfAborted(signal);
    const compared = await compareSession(from, to, session, signal);
    if (!compared) {
      known.add(session);
      continue;
    }
    totals.sessions++;
    totals.entries += seq;
    totals.redacted += compared.redacted;
    hash.update(`${JSON.stringify(session)} ${compared.digest}\n`);
    done++;
    tell("verifying", totals.entries);
  }
  return {
    ...totals,
    digest: hash.digest("hex"),
    copiedEntries: mover.copiedEntries,
    copiedBlobs: mover.copiedBlobs,
    intakes,
    tasks,
    damagedBlobs: mover.damagedBlobs,
    onlyInTarget: [...known],
    isBehind: (await from.entries.version()) !== version && (await hasMore(from, to)),
  };
}

/** Refuses a target with conversations of its own. */
async function markTarget(to: Store): Promise<void> {
  if (await to.leases.get(MARKER)) return;
  const [first] = await to.entries.heads({ limit: 1 });
  if (first) {
    throw new LonghaulError(
      "STORE_FOREIGN",
      `The target has conversations already (the first is ${JSON.stringify(first.session)}); name a new folder or schema. Nothing was changed.`,
      { details: { session: first.session } },
    );
  }
  await to.leases.claim({ name: MARKER, owner: "move", expiresAt: NEVER_MS }, 0);
}

async function* listHeads(store: Store) {
  for (let after = 0; ; ) {
    const heads = await store.entries.heads({ after, limit: HEADS_PER_PAGE });
    yield* heads;
    if (heads.length < HEADS_PER_PAGE) return;
    after = heads.at(-1)?.place ?? after;
  }
}

async function countSessions(store: Store): Promise<number> {
  let count = 0;
  for await (const _ of listHeads(store)) count++;
  return count;
}

async function hasMore(from: Store, to: Store): Promise<boolean> {
  for await (const { session, seq } of listHeads(from)) {
    const record = await to.sessions.get(session);
    if (!record || (await to.entries.head(session)).seq < seq) return true;
  }
  return false;
}

const ENTRIES_PER_STEP = 256;

/** A session that is the same in two stores. */
interface ComparedSession {
  /** SHA-256 over seq, time, kind and payload of all entries of the target. */
  readonly digest: string;
  readonly redacted: number;
}

/**
 * Compares every entry of a session in the target with the source, and redacts entries there that the source has
 * redacted; undefined if the source does not have the session. Throws STORE_FOREIGN at the first difference.
 */
async function compareSession(
  from: Store,
  to: Store,
  session: SessionId,
  signal: AbortSignal | undefined,
): Promise<ComparedSession | undefined> {
  if (!(await from.sessions.get(session))) return undefined;
  const hash = createHash("sha256");
  const { seq: head } = await to.entries.head(session);
  let redacted = 0;
  for (let next = 1; next <= head; ) {
    throwIfAborted(signal);
    const query = {
      from: next,
      to: Math.min(head, next + ENTRIES_PER_STEP - 1),
      limit: ENTRIES_PER_STEP,
      order: "ascending",
    } as const;
    const [here, there] = [await from.entries.read(session, query), await to.entries.read(session, query)];
    const late: Tombstone[] = [];
    for (let seq = next; seq <= query.to; seq++) {
      const original = here[seq - next];
      const copy = there[seq - next];
      if (original?.seq !== seq || copy?.seq !== seq) throw createDifference(session, seq);
      if (original.kind === "redacted" && copy.kind !== "redacted")
        late.push({ seq, payload: original.payload });
      else if (!isSame(original, copy)) throw createDifference(session, seq);
      hash.update(`${seq} ${original.at} ${original.kind} ${original.payload.byteLength}\n`);
      hash.update(original.payload);
    }
    if (late.length > 0) redacted += (await to.entries.redact(session, late)).entries;
    next = query.to + 1;
  }
  return { digest: hash.digest("hex"), redacted };
}

function isSame(one: StoredEntry, other: StoredEntry): boolean {
  return one.at === other.at && one.kind === other.kind && Buffer.compare(one.payload, other.payload) === 0;
}

function createDifference(session: SessionId, seq: number): LonghaulError {
  return new LonghaulError(
    "STORE_FOREIGN",
    `Entry ${seq} of session ${JSON.stringify(session)} differs between the stores: the target has been written to by itself. Move into a new folder or schema. The source was not changed.`,
    { details: { session, seq } },
  );
}

const PAGE = 1_000;

/** Copies foreign sources with their records; unchanged ones are skipped. Returns their number. */
async function moveIntakes(from: Store, to: Store, signal: AbortSignal | undefined): Promise<number> {
  const [source, target] = [from.transfer, to.transfer];
  if (!source || !target) return 0;
  let count = 0;
  for (let after = ""; ; ) {
    const page = await source.intakes({ after, limit: PAGE });
    for (const intake of page) {
      throwIfAborted(signal);
      after = intake.name;
      // Made after its session was copied; the next run has it.
      if (!(await to.sessions.get(intake.session))) continue;
      count++;
      const known = await to.intakes.get(intake.name);
      if (known?.stamp === intake.stamp) continue;
      for (let last = ""; ; ) {
        const records = await source.records(intake.name, { after: last, limit: PAGE });
        await target.putRecords(intake, records);
        if (records.length < PAGE) break;
        last = records.at(-1)?.id ?? last;
      }
      // Last, so that a move that was stopped begins with this source again.
      await target.putIntake(intake);
    }
    if (page.length < PAGE) return count;
  }
}

/** Copies tasks, oldest first; unchanged ones are skipped. Returns their number. */
async function moveTasks(from: Store, to: Store, signal: AbortSignal | undefined): Promise<number> {
  if (!to.transfer) return 0;
  const ids: TaskId[] = [];
  for (let before: TaskId | undefined; ; ) {
    const page: readonly TaskRecord[] = await from.tasks.list({ limit: PAGE, ...dropUndefined({ before }) });
    for (const { id } of page) ids.push(id);
    if (page.length < PAGE) break;
    before = page.at(-1)?.id;
  }
  let count = 0;
  for (const id of ids.reverse()) {
    throwIfAborted(signal);
    const task = await from.tasks.get(id);
    if (!task) continue;
    const known = await to.tasks.get(id);
    if (JSON.stringify(known) !== JSON.stringify(task)) {
      try {
        await to.transfer.putTask(task);
      } catch (error) {
        // Its session was made after the sessions were copied; the next run has it.
        if (!isLonghaulError(error, "SESSION_NOT_FOUND")) throw error;
        continue;
      }
    }
    count++;
  }
  return count;
}

/** Copies people, budgets and the audit log, whose entries the target adds to those that it has. */
async function moveTeam(from: Store, to: Store): Promise<void> {
  if (!from.transfer || !to.transfer) return;
  let known = 0;
  for (;;) {
    const page = await to.audit.list({ after: known, limit: PAGE });
    known = page.at(-1)?.seq ?? known;
    if (page.length < PAGE) break;
  }
  await to.transfer.putTeam(await from.transfer.team(known));
}

/** The parts of a store that hold content. */
type StorePart = Exclude<
  {
    [Name in keyof Store]-?: NonNullable<Store[Name]> extends (...args: never) => unknown ? never : Name;
  }[keyof Store],
  "transfer"
>;

/** How each part of a store comes into another one; a new part needs its row. */
export const MOVED_PARTS: Readonly<
  Record<StorePart, "moved" | "moved with sessions" | "made again" | "left">
> = {
  sessions: "moved",
  entries: "moved with sessions",
  places: "moved with sessions",
  drafts: "moved with sessions",
  blobs: "moved with sessions",
  intakes: "moved",
  tasks: "moved",
  people: "moved",
  budgets: "moved",
  audit: "moved",
  ledger: "moved",
  // Keys are moved; other leases belong to running processes.
  leases: "moved",
  delivery: "made again",
  memory: "made again",
  sharedStates: "left",
};

/** Copies the keys of the store first: marks and digests in its content were made with them. */
async function moveKeys(from: Store, to: Store): Promise<void> {
  for (const key of (await from.transfer?.keys()) ?? [])
    if (!(await to.leases.get(key.name))) await to.transfer?.putKey(key);
}

/** Copies the facts of the store about itself, except for items that its loops left out: the target finds its own. */
async function moveLedger(from: Store, to: Store, signal: AbortSignal | undefined): Promise<void> {
  for (const kind of ["erased", "erasure"] as const)
    for (let after = ""; ; ) {
      throwIfAborted(signal);
      const page = await from.ledger.list(kind, { after, limit: PAGE });
      await to.ledger.put(kind, page);
      if (page.length < PAGE) break;
      after = page.at(-1)?.id ?? after;
    }
}

/** Copies sessions with their entries, blobs and drafts, except those that the target has already. */
class SessionMover {
  readonly damagedBlobs: Digest[] = [];
  copiedEntries = 0;
  copiedBlobs = 0;
  readonly #from: Store;
  readonly #to: Store;
  readonly #signal: AbortSignal | undefined;

  constructor(from: Store, to: Store, signal: AbortSignal | undefined) {
    this.#from = from;
    this.#to = to;
    this.#signal = signal;
  }

  /** Copies a session up to a seq. */
  async move(id: SessionId, head: number, onStep: (copiedEntries: number) => void): Promise<void> {
    const record = await this.#from.sessions.get(id);
    // Deleted since the list was read.
    if (!record) return;
    const { lineSeq: _, ...session } = record;
    const opened = await this.#to.sessions.open(session);
    await this.#update(opened.record, record);
    let { seq } = await this.#to.entries.head(id);
    while (seq < head) {
      throwIfAborted(this.#signal);
      const page = await this.#readPage(id, seq + 1, head);
      if (page.length === 0) return;
      await this.#append(id, seq, page);
      seq += page.length;
      this.copiedEntries += page.length;
      onStep(this.copiedEntries);
    }
    await this.#to.places.put(await this.#from.places.ofSession(id));
    await this.#moveDrafts(id);
  }

  async #update(there: SessionRecord, here: SessionRecord): Promise<void> {
    const change = dropUndefined({
      title: here.title !== undefined && here.title !== there.title ? here.title : undefined,
      meta:
        here.meta !== undefined && JSON.stringify(here.meta) !== JSON.stringify(there.meta)
          ? here.meta
          : undefined,
    });
    if (Object.keys(change).length > 0) await this.#to.sessions.update(here.id, change);
  }

  /** Consecutive entries from a seq on, of limited size together. */
  async #readPage(id: SessionId, from: number, to: number): Promise<readonly StoredEntry[]> {
    const query = { from, to, limit: ENTRIES_PER_STEP, order: "ascending" } as const;
    const page = await this.#from.entries.read(id, query);
    let bytes = 0;
    const end = page.findIndex((entry, index) => {
      bytes += entry.payload.byteLength;
      return entry.seq !== from + index || (index > 0 && bytes > MAX_STEP_BYTES);
    });
    if (end === 0) {
      throw new LonghaulError(
        "STORE_CORRUPT",
        `Entry ${from} of session ${JSON.stringify(id)} is missing in the source; "longhaul repair" copies everything readable into a new store, which can be moved.`,
        { details: { session: id, seq: from } },
      );
    }
    return end === -1 ? page : page.slice(0, end);
  }

  async #append(session: SessionId, expectedHead: number, page: readonly StoredEntry[]): Promise<void> {
    const holds: string[] = [];
    const entries: NewEntry[] = [];
    for (const { kind, at, payload } of page) {
      const blobs = await this.#moveBlobs(findBlobs({ kind, payload }), holds);
      entries.push({ kind, at, payload, ...(blobs.length > 0 && { blobs }) });
    }
    const [outcome] = await this.#to.entries.append([{ session, expectedHead, entries, holds }]);
    if (outcome instanceof Error) throw outcome;
  }

  async #moveDrafts(session: SessionId): Promise<void> {
    const drafts = await this.#from.drafts.list(session);
    const ids = new Set(drafts.map(({ id }) => id));
    // Finished in the source since an earlier run: left here, its text would come back as an interrupted message.
    for (const { id } of await this.#to.drafts.list(session))
      if (!ids.has(id)) await this.#to.drafts.delete(id);
    for (const draft of drafts) {
      const holds: string[] = [];
      const blobs = await this.#moveBlobs(findBlobs({ kind: "message", payload: draft.payload }), holds);
      await this.#to.drafts.write({ ...draft, blobs, holds });
    }
  }

  /** Copies blobs under holds and returns those that the target has now. */
  async #moveBlobs(digests: readonly Digest[], holds: string[]): Promise<readonly Digest[]> {
    const moved: Digest[] = [];
    for (const digest of digests) if (await this.#moveBlob(digest, holds)) moved.push(digest);
    return moved;
  }

  async #moveBlob(digest: Digest, holds: string[]): Promise<boolean> {
    const size = await this.#from.blobs.sizeOf(digest);
    try {
      if (size !== undefined) {
        const options = { maxBytes: Number.MAX_SAFE_INTEGER, ...dropUndefined({ signal: this.#signal }) };
        // Written again where it exists, which costs a read and holds it until the append.
        const written = await this.#to.blobs.write(this.#from.blobs.read(digest), options);
        holds.push(written.hold);
        if (written.created) this.copiedBlobs++;
        if (written.digest === digest) return true;
      }
    } catch (error) {
      if (!isLonghaulError(error, "BLOB_NOT_FOUND")) throw error;
    }
    if (!this.damagedBlobs.includes(digest)) this.damagedBlobs.push(digest);
    return false;
  }
}

function findBlobs(stored: Pick<StoredEntry, "kind" | "payload">): readonly Digest[] {
  return findBodyBlobs(decodeStoredBody(stored));
}
