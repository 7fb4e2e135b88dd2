import { computeDigest } from "../base/digest.ts";

const MAX_LENGTH = 64;

/** Converts a task id to a valid file and branch name; different ids get different names. */
export function toTaskName(task: string): string {
  const plain = task
    .normalize("NFC")
    .replace(/[^\p{L}\p{N}_.-]+/gu, "-")
    .replace(/\.{2,}|\.lock(?=$|-)/gi, "-")
    .replace(/^[.-]+|[.-]+$/g, "");
  const short = [...plain]
    .slice(0, MAX_LENGTH)
    .join("")
    .replace(/[.-]+$/, "");
  if (short === task) return short;
  const digest = computeDigest(task, 8);
  return short ? `${short}-${digest}` : digest;
}

/** The branch of a task; `isPlain` avoids the folder `longhaul/` when a branch of that name exists. */
export function toBranchName(task: string, isPlain: boolean): string {
  return `longhaul${isPlain ? "-" : "/"}${toTaskName(task)}`;
}
