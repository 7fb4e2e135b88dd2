import { createHash } from "node:crypto";

const MAX_LENGTH = 64;

/** A task's id as a name that files and branches can have; different ids get different names. */
export function nameOfTask(task: string): string {
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
  const digest = createHash("sha256").update(task).digest("hex").slice(0, 8);
  return short ? `${short}-${digest}` : digest;
}

/** The branch of a task; `isPlain` where a branch called `longhaul` leaves no room for a folder of that name. */
export function branchOfTask(task: string, isPlain: boolean): string {
  return `longhaul${isPlain ? "-" : "/"}${nameOfTask(task)}`;
}
