import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/**
 * A folder for one test, removed afterwards, repeatedly if a process that the test has started still writes into it. Its
 * name has a space, as names of people's folders do.
 */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "longhaul test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));
  return folder;
}
