import { createHash } from "node:crypto";
import type { Digest } from "../../model/blob.ts";
import type { SessionId } from "../../model/entry.ts";
import { LonghaulError, throwIfAborted } from "../../model/errors.ts";
import type { Store } from "../../store/store.ts";
import { SessionMover } from "./move-session.ts";
import { moveIntakes, moveTasks, moveTeam } from "./move-work.ts";
import { compareSession } from "./session-digest.ts";

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
 * Copies a store into another one, while others go on writing to the source. It may be stopped at any time and goes on
 * where it was; every entry is compared in the end. The index is derived, and the target builds its own.
 */
export async function moveStore(from: Store, to: Store, options: MoveOptions = {}): Promise<MoveReport> {
  const { signal } = options;
  await markTarget(to);
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
