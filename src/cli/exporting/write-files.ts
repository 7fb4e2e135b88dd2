import { exportSession, type OnDamage } from "../../formats/index.ts";
import type { Kernel, SessionId } from "../../index.ts";
import { createPathMapper, type ExportTarget } from "./export-target.ts";
import { listDescendants } from "./list-descendants.ts";
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
