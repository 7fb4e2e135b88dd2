import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeHeapSnapshot } from "node:v8";

const ENDING = ".heapsnapshot";

/** Writes a heap snapshot into a folder and keeps at most `count` of them; undefined if it could not be written. */
export function keepHeapSnapshot(folder: string, count: number, at: number): string | undefined {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, `heap-${new Date(at).toISOString().replaceAll(":", "-")}${ENDING}`);
    writeHeapSnapshot(path);
    const names = readdirSync(folder)
      .filter((name) => name.endsWith(ENDING))
      .sort();
    for (const name of names.slice(0, -count)) rmSync(join(folder, name), { force: true });
    return path;
  } catch {
    // A full disk must not turn pressure into a failure.
    return undefined;
  }
}
