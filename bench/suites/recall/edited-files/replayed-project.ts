import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { openRecall } from "../open-recall.ts";
import type { FileTouch } from "./project-history.ts";

/** The product's memory over a project as it was at a time: its files on disk, and the calls made so far. */
export interface ReplayedProject {
  /** Sets files and calls to a time, which never goes back, and recalls; paths within the project, best first. */
  recall(question: string, atMs: number, files: ReadonlyMap<string, string>): Promise<string[]>;
  close(): Promise<void>;
}

const ALL_HITS = 1_000;

/**
 * Replays a project in `root`. The log holds the calls that touched files, without their contents, so that the ranking
 * of files is measured and not their competition with messages.
 */
export async function replayProject(root: string, touches: readonly FileTouch[]): Promise<ReplayedProject> {
  const { log, memory, setNow, close } = await openRecall();
  const written = new Map<string, string>();
  let next = 0;
  const append = async (atMs: number): Promise<void> => {
    for (let touch = touches[next]; touch && touch.atMs <= atMs; touch = touches[++next]) {
      const { session: id, named, isChange } = touch;
      await log.store.sessions.open({ id, createdAt: touch.atMs });
      const call = { callId: `call-${next}`, name: isChange ? "edit" : "read", input: { path: named } };
      const ready = await log.prepare({ role: "assistant", parts: [{ type: "tool-call", ...call }] });
      await log.append(id, [{ ...ready, at: touch.atMs }]);
    }
  };
  return {
    async recall(question, atMs, files) {
      await append(atMs);
      for (const [path, text] of files) {
        if (written.get(path) === text) continue;
        await mkdir(dirname(join(root, path)), { recursive: true });
        await writeFile(join(root, path), text);
        written.set(path, text);
      }
      setNow(atMs);
      await memory.indexFiles([root]);
      const { hits } = await memory.recall(question, { k: ALL_HITS });
      return hits.flatMap((hit) => (hit.kind === "file" ? [hit.path.slice(root.length + 1)] : []));
    },
    close,
  };
}
