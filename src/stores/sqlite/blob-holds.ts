import { randomUUID } from "node:crypto";
import { findProcess } from "../../model/base/process-identity.ts";
import type { Clock } from "../../model/clock.ts";
import type { Database, Row } from "./database.ts";

/** How long a written blob waits for the append that refers to it. */
const HOLD_MS = 15 * 60 * 1000;

/** Holds of this process, in any store, by the monotonic time of their creation, oldest first. */
const ownHolds = new Map<string, number>();

/**
 * Holds keep a written blob until an append refers to it. A hold belongs to a process: another process drops it only
 * after that process has ended, whatever the time of day says, so a clock that jumps costs nobody a blob.
 */
export class BlobHolds {
  readonly #clock: Clock;
  readonly #statements;

  constructor(db: Database, clock: Clock) {
    this.#clock = clock;
    this.#statements = {
      add: db.prepare("INSERT INTO blob_holds (token, digest, expires_at) VALUES (?, ?, ?)"),
      release: db.prepare("DELETE FROM blob_holds WHERE token = ? RETURNING digest"),
      late: db.prepare("SELECT token FROM blob_holds WHERE expires_at < ?"),
    };
  }

  /** Within a write transaction. */
  add(token: string, digest: Uint8Array): void {
    forgetOldHolds();
    ownHolds.set(token, performance.now());
    this.#statements.add.run(token, digest, this.#clock.now() + HOLD_MS);
  }

  /** Ends a hold and returns the digests it held. Within a write transaction. */
  release(token: string): Uint8Array[] {
    ownHolds.delete(token);
    return this.#statements.release.all(token).map(digestOf);
  }

  /** Ends the holds that were abandoned and returns the digests they held. Within a write transaction. */
  releaseAbandoned(): Uint8Array[] {
    forgetOldHolds();
    const tokens = this.#statements.late.all(this.#clock.now()).map(({ token }) => token as string);
    return tokens.filter((token) => !isInUse(token)).flatMap((token) => this.release(token));
  }
}

function isInUse(token: string): boolean {
  const owner = parseProcessName(token);
  return owner === THIS_PROCESS ? ownHolds.has(token) : isProcessRunning(owner);
}

function forgetOldHolds(): void {
  for (const [token, createdMs] of ownHolds) {
    if (performance.now() - createdMs <= HOLD_MS) return;
    ownHolds.delete(token);
  }
}

/** Names this process so that another one can tell whether it still runs: `<pid>-<start>`. */
const THIS_PROCESS = `${process.pid}-${findProcess(process.pid)?.startedAt ?? ""}`;

/** A new name for a hold or a temporary file; it says which process made it. */
export function createOwnedName(): string {
  return `${THIS_PROCESS}-${randomUUID()}`;
}

/** True while the process that made the name runs; false where the system does not tell. */
export function isOwnedByRunningProcess(name: string): boolean {
  return isProcessRunning(parseProcessName(name));
}

function parseProcessName(name: string): string {
  return /^\d+-\d*(?=-)/.exec(name)?.[0] ?? "";
}

function isProcessRunning(processName: string): boolean {
  const [pid, startedAt] = processName.split("-");
  return Boolean(startedAt) && findProcess(Number(pid))?.startedAt === startedAt;
}

function digestOf(row: Row): Uint8Array {
  return row.digest as Uint8Array;
}
