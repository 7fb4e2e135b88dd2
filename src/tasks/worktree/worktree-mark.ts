import { randomUUID } from "node:crypto";
import { rename, rm, stat, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { findOutsideText } from "../../model/base/outside-file.ts";
import type { ProcessIdentity } from "../process/process-table.ts";
import { identifyProcess, isProcessAlive } from "../process/system-table.ts";

/** Files of a worktree's admin folder are a few lines long; an agent may have put anything in their place. */
export const MAX_ADMIN_BYTES = 64 * 1_024;

/** The process that works in a worktree. */
export interface Holder extends ProcessIdentity {
  readonly host: string;
}

/** Metadata in a worktree's admin folder. */
export interface WorktreeMark {
  /** Unique per worktree, even for the same task. */
  readonly id: string;
  readonly task: string;
  /** Tells equal task ids of different stores apart. */
  readonly tag?: string;
  readonly branch: string;
  readonly base: string;
  /** The newest stash of the repository when the worktree was created. */
  readonly stash: string;
  readonly createdAt: number;
  readonly heartbeatAt: number;
  readonly heldBy?: Holder;
  /** True once removal has begun; files may be missing. */
  readonly isRemoving?: boolean;
  /** False until the checkout and hooks are done; no task has worked in it before. */
  readonly isComplete: boolean;
}

const FILE = "longhaul.json";
const REASON = "longhaul ";

/** This process as a holder. */
export async function getCurrentHolder(): Promise<Holder> {
  const identity = (await identifyProcess()) ?? { pid: process.pid, born: "" };
  return { ...identity, host: hostname() };
}

/**
 * Whether a process works in the worktree: a live holder on this machine, or a holder elsewhere with a
 * heartbeat younger than `staleMs`.
 */
export async function isHeld(mark: WorktreeMark, now: number, staleMs: number): Promise<boolean> {
  if (!mark.heldBy) return false;
  if (mark.heldBy.host === hostname()) return isProcessAlive(mark.heldBy);
  return now - mark.heartbeatAt < staleMs;
}

/** The reason of git's lock, which contains the mark while the worktree is incomplete. */
export function buildLockReason(mark: WorktreeMark): string {
  return REASON + JSON.stringify(mark);
}

/** Reads the mark; undefined if longhaul did not create the worktree. */
export async function readMark(admin: string): Promise<WorktreeMark | undefined> {
  const text = await findOutsideText(join(admin, FILE), { maxBytes: MAX_ADMIN_BYTES });
  if (text !== undefined) return parseMark(text);
  const reason = (await findOutsideText(join(admin, "locked"), { maxBytes: MAX_ADMIN_BYTES })) ?? "";
  return reason.startsWith(REASON) ? parseMark(reason.slice(REASON.length)) : undefined;
}

/** Replaces the mark atomically. Fails if the admin folder is gone. */
export async function writeMark(admin: string, mark: WorktreeMark): Promise<void> {
  await stat(admin);
  const draft = join(admin, `${FILE}.${randomUUID()}`);
  await writeFile(draft, JSON.stringify(mark));
  await rename(draft, join(admin, FILE)).catch(async (error) => {
    await rm(draft, { force: true });
    throw error;
  });
}

function parseMark(text: string): WorktreeMark | undefined {
  try {
    const mark = JSON.parse(text);
    const isWhole =
      typeof mark.task === "string" && typeof mark.branch === "string" && typeof mark.base === "string";
    return isWhole ? mark : undefined;
  } catch {
    return undefined;
  }
}
