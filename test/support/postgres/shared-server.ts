import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stopServer } from "./postgres-server.ts";

/** Names the folder in which the files of one run find their server. */
export const SERVER_FOLDER = "LONGHAUL_TEST_POSTGRES_FOLDER";

/** Before a run: makes the meeting place. After it: stops the server if a file has started one. */
export default function shareServer(): (() => Promise<void>) | undefined {
  if (process.env[SERVER_FOLDER]) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "longhaul-test-postgres-"));
  process.env[SERVER_FOLDER] = folder;
  return async () => {
    delete process.env[SERVER_FOLDER];
    try {
      const started = JSON.parse(readFileSync(join(folder, "server.json"), "utf8"));
      if (started.pid) await stopServer(started.pid);
      if (started.folder) rmSync(started.folder, { recursive: true, force: true });
    } catch {
      // No file of this run needed a server.
    }
    rmSync(folder, { recursive: true, force: true });
  };
}
