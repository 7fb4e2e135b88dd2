import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Bench } from "../../bench.ts";

const DEFAULT = join(import.meta.dirname, "../../../../shared/data");

/**
 * The folder of a data set, in `LONGHAUL_DATA` or next to the repository; undefined, with a note on stderr, if absent.
 */
export function findDataSet(bench: Bench, name: string): string | undefined {
  const folder = join(process.env.LONGHAUL_DATA ?? DEFAULT, name);
  if (existsSync(folder)) return folder;
  bench.note(
    `Left out ${name}: there is no folder ${name} in LONGHAUL_DATA, nor in shared/data beside the repository.`,
  );
  return undefined;
}

/** The available sizes of BEAM, smallest first. */
export function beamSizes(folder: string): string[] {
  const millions = (name: string) => Number.parseFloat(name) * (/m$/i.test(name) ? 1_000 : 1);
  const sizes = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return sizes.map(({ name }) => name).sort((left, right) => millions(left) - millions(right));
}
