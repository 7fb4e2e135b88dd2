import { KIND_NUMBERS, MAX_SEQ } from "../../log/store/entry-store.ts";
import { addFreed, type FreedCounts, NOTHING_FREED } from "../../log/store/freed-counts.ts";
import type { Digest } from "../../model/blob.ts";
import type { BlobFiles } from "./blob-files.ts";
import { toDigestBytes } from "./blob-refs.ts";
import type { Database } from "./database.ts";
import { toEntryKey } from "./entry-key.ts";

const ROWS_PER_STEP = 2_000;

/**
 * Erases content from disk: rows are overwritten with zeros (secure_delete), and unreferenced blob files are deleted.
 */
export class Eraser {
  readonly #db: Database;
  readonly #files: BlobFiles;
  readonly #statements;

  constructor(db: Database, files: BlobFiles) {
    this.#db = db;
    this.#files = files;
    this.#statements = {
      entry: db.prepare("SELECT length(payload) AS bytes, kind FROM entries WHERE key = ?"),
      bury: db.prepare("UPDATE entries SET kind = ?, payload = ? WHERE key = ?"),
      stepEnd: db.prepare(
        `SELECT max(key) AS last, count(*) AS entries, sum(bytes) AS bytes FROM (
          SELECT key, length(payload) AS bytes FROM entries WHERE key BETWEEN ? AND ? ORDER BY key LIMIT ${ROWS_PER_STEP})`,
      ),
      deleteEntries: db.prepare("DELETE FROM entries WHERE key BETWEEN ? AND ?"),
      deletePlaces: db.prepare("DELETE FROM places WHERE entry BETWEEN ? AND ?"),
      refsBetween: db.prepare("SELECT DISTINCT digest FROM blob_refs WHERE owner BETWEEN ? AND ?"),
      deleteRefs: db.prepare("DELETE FROM blob_refs WHERE owner BETWEEN ? AND ?"),
      drafts: db.prepare("SELECT number FROM drafts WHERE session = ?"),
      deleteDrafts: db.prepare("DELETE FROM drafts WHERE session = ?"),
      intakes: db.prepare("SELECT number FROM intakes WHERE session = ?"),
      deleteRecords: db.prepare(
        `DELETE FROM intake_records WHERE (intake, record) IN (
          SELECT intake, record FROM intake_records WHERE intake = ? LIMIT ${ROWS_PER_STEP})`,
      ),
      deleteIntakes: db.prepare("DELETE FROM intakes WHERE session = ?"),
      deleteSession: db.prepare("DELETE FROM sessions WHERE number = ?"),
      unfinished: db.prepare("SELECT number FROM sessions WHERE id IS NULL"),
      inUse: db.prepare(
        "SELECT 1 FROM blob_refs WHERE digest = :digest UNION ALL SELECT 1 FROM blob_holds WHERE digest = :digest LIMIT 1",
      ),
      blobSize: db.prepare("SELECT size_bytes FROM blobs WHERE digest = ?"),
      deleteBlob: db.prepare("DELETE FROM blobs WHERE digest = ?"),
    };
  }

  /** Erases a session that has lost its id, in steps between which others can write. */
  async eraseSession(number: number): Promise<FreedCounts> {
    let freed = NOTHING_FREED;
    for (let from = toEntryKey(number, 0); ; ) {
      const step = await this.#db.transact(() => this.#eraseRange(from, toEntryKey(number, MAX_SEQ)));
      freed = addFreed(freed, step.freed);
      if (step.next === undefined) break;
      from = step.next;
    }
    await this.#eraseRecords(number);
    const last = await this.#db.transact(() => {
      let erased = NOTHING_FREED;
      for (const row of this.#statements.drafts.all(number)) {
        const owner = -(row.number as number);
        erased = addFreed(erased, this.#dropRefs(owner, owner));
      }
      this.#statements.deleteDrafts.run(number);
      this.#statements.deleteIntakes.run(number);
      this.#statements.deleteSession.run(number);
      return erased;
    });
    return addFreed(freed, last);
  }

  async #eraseRecords(session: number): Promise<void> {
    for (const { number } of await this.#db.read(() => this.#statements.intakes.all(session))) {
      const step = () => this.#statements.deleteRecords.run(number as number).changes;
      while ((await this.#db.transact(step)) === ROWS_PER_STEP);
    }
  }

  /** Finishes deletions that a crash interrupted. */
  async finishDeletions(): Promise<void> {
    for (const row of await this.#db.read(() => this.#statements.unfinished.all()))
      await this.eraseSession(row.number as number);
  }

  /** Within a transaction: replaces entries by tombstones. */
  redact(tombstones: readonly { readonly key: number; readonly payload: Uint8Array }[]): FreedCounts {
    const redacted = KIND_NUMBERS.redacted;
    let freed = NOTHING_FREED;
    for (const { key, payload } of tombstones) {
      const entry = this.#statements.entry.get(key);
      if (!entry || entry.kind === redacted) continue;
      this.#statements.bury.run(redacted, payload, key);
      this.#statements.deletePlaces.run(key, key);
      const blobs = this.#dropRefs(key, key);
      freed = addFreed(freed, { ...blobs, entries: 1, payloadBytes: entry.bytes as number });
    }
    return freed;
  }

  /** Within a transaction: deletes those of the blobs that have no references and no holds. */
  eraseBlobs(digests: readonly Uint8Array[]): FreedCounts {
    let blobs = 0;
    let blobBytes = 0;
    for (const digest of digests) {
      if (this.#statements.inUse.get({ digest })) continue;
      blobBytes += (this.#statements.blobSize.get(digest)?.size_bytes as number | undefined) ?? 0;
      this.#statements.deleteBlob.run(digest);
      this.#files.remove(Buffer.from(digest).toString("hex"));
      blobs++;
    }
    return { ...NOTHING_FREED, blobs, blobBytes };
  }

  /** The counts that `eraseBlobs` would return for blobs without references and holds. */
  countBlobs(digests: readonly Uint8Array[]): FreedCounts {
    const sizes = digests.map((digest) => (this.#statements.blobSize.get(digest)?.size_bytes as number) ?? 0);
    return { ...NOTHING_FREED, blobs: digests.length, blobBytes: sizes.reduce((sum, one) => sum + one, 0) };
  }

  /** Within a transaction: deletes files that a crash left without a row; a dry run only counts them. */
  eraseStrayFiles(digests: readonly Digest[], isDryRun = false): FreedCounts {
    let blobs = 0;
    let blobBytes = 0;
    for (const digest of digests) {
      if (this.#statements.blobSize.get(toDigestBytes(digest))) continue;
      blobBytes += this.#files.sizeOf(digest) ?? 0;
      if (!isDryRun) this.#files.remove(digest);
      blobs++;
    }
    return { ...NOTHING_FREED, blobs, blobBytes };
  }

  #eraseRange(from: number, to: number): { freed: FreedCounts; next: number | undefined } {
    const step = this.#statements.stepEnd.get(from, to) as {
      last: number | null;
      entries: number;
      bytes: number | null;
    };
    if (step.last === null) return { freed: NOTHING_FREED, next: undefined };
    this.#statements.deleteEntries.run(from, step.last);
    this.#statements.deletePlaces.run(from, step.last);
    const blobs = this.#dropRefs(from, step.last);
    const freed = { ...blobs, entries: step.entries, payloadBytes: step.bytes ?? 0 };
    return { freed, next: step.entries === ROWS_PER_STEP ? step.last + 1 : undefined };
  }

  #dropRefs(fromOwner: number, toOwner: number): FreedCounts {
    const digests = this.#statements.refsBetween
      .all(fromOwner, toOwner)
      .map((row) => row.digest as Uint8Array);
    if (digests.length === 0) return NOTHING_FREED;
    this.#statements.deleteRefs.run(fromOwner, toOwner);
    return this.eraseBlobs(digests);
  }
}
