import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A disk of a few megabytes of its own. */
export interface SmallDisk {
  readonly path: string;
  /** From now on nothing can be written, or again. */
  setReadOnly(isReadOnly: boolean): void;
  remove(): void;
}

/** Mounts a tmpfs where the machine allows it; undefined elsewhere. */
export function mountSmallDisk(sizeBytes: number): SmallDisk | undefined {
  const path = mkdtempSync(join(tmpdir(), "longhaul-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${sizeBytes}`, "tmpfs", path], { stdio: "pipe" });
  } catch {
    rmSync(path, { recursive: true });
    return undefined;
  }
  return {
    path,
    setReadOnly: (isReadOnly) =>
      void execFileSync("mount", ["-o", `remount,${isReadOnly ? "ro" : "rw"}`, path], { stdio: "pipe" }),
    remove: () => {
      execFileSync("umount", ["-l", path], { stdio: "pipe" });
      rmSync(path, { recursive: true });
    },
  };
}
