import { exportSession, type OnDamage } from "../../formats/index.ts";
import type { Kernel, SessionId } from "../../index.ts";
import { createPathMapper, type ExportTarget } from "./export-target.ts";
import { StagingFolder } from "./staging-folder.ts";

/** Files that an export wrote. */
export interface WrittenFiles {
  readonly files: readonly string[];
  readonly sizeBytes: number;
}

/** Exports a session, and its sub-agents if requested, into files: all of them or none. */
export async function writeFiles(
  kernel: Kernel,
  id: SessionId,
  wanted: ExportTarget,
  { signal, onDamage }: { readonly signal: AbortSignal; readonly onDamage: OnDamage },
): Promise<WrittenFiles> {
  const placing = await createPathMapper(wanted);
  await using staging = await StagingFolder.createNextTo(wanted.out, wanted.isForced);
  const stage = async (session: SessionId) => {
    const place = placing(session);
    for await (const { file, text } of exportSession(kernel, session, wanted.writer, onDamage)) {
      signal.throwIfAborted();
      await staging.write(place(file), text);
    }
  };
  await stage(id);
  if (wanted.withChildren) for await (const child of listDescendants(kernel, id)) await stage(child);
  await staging.commit();
  return { files: staging.files, sizeBytes: staging.sizeBytes };
}

const PAGE_SESSIONS = 100;

/** Yields all sub-agents below a session, each after its parent. Forks are separate conversations and left out. */
async function* listDescendants(kernel: Kernel, id: SessionId): AsyncGenerator<SessionId> {
  await using session = await kernel.session(id);
  for (let before: SessionId | undefined; ; ) {
    const page = await session.children({ limit: PAGE_SESSIONS, ...(before !== undefined && { before }) });
    for (const child of page) {
      if (child.relation !== "child") continue;
      yield child.id;
      yield* listDescendants(kernel, child.id);
    }
    if (page.length < PAGE_SESSIONS) return;
    before = page.at(-1)?.id;
  }
}
