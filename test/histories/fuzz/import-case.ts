import { importSources } from "../../../src/histories/import-sources.ts";
import type { Format } from "../../../src/histories/port/format.ts";
import type { Kernel } from "../../../src/kernel/index.ts";

/** Imports all sources of a folder twice. Throws if one fails, or if the second import finds anything new. */
export async function importCase(kernel: Kernel, folder: string, formats: readonly Format[]): Promise<void> {
  const first = await importSources(kernel, [folder], { formats });
  for (const { status, error } of first.sources)
    if (status === "failed") throw new Error(`import failed: ${error}`);
  const again = await importSources(kernel, [folder], { formats });
  for (const { status, added, error } of again.sources)
    if (status !== "unchanged")
      throw new Error(`the second import is ${status}: ${error ?? JSON.stringify(added)}`);
}
