import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A separate disk of a few megabytes. */
export interface SmallDisk {
  readonly path: string;
  /** Makes the disk read-only or writable. */
  setReadOnly(isReadOnly: boolean): void;
  remove(): void;
}

/** Mounts a tmpfs if the machine allows it; otherwise returns undefined. */
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
