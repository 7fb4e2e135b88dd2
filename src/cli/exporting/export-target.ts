import { extname, join, normalize, sep } from "node:path";
import type { Writer } from "../../formats/index.ts";
import type { SessionId } from "../../index.ts";
import { UsageError } from "../usage-error.ts";
import { findPathKind, TargetExistsError } from "./staging-folder.ts";

/** Maps a file name from a writer to its path on disk. */
type PathMapper = (file: string) => string;

/** Export request. */
export interface ExportTarget {
  readonly out: string;
  readonly writer: Writer;
  /** Also export sub-agents, each into its own file; folder writers include them anyway. */
  readonly withChildren: boolean;
  readonly isForced: boolean;
}

/** Returns the placing of each session's files. Refuses impossible targets before anything is read. */
export async function createPathMapper(wanted: ExportTarget): Promise<(session: SessionId) => PathMapper> {
  const { out, writer, withChildren, isForced } = wanted;
  const there = await findPathKind(out);
  if (there === "file" && (writer.isFolder || withChildren)) {
    throw new UsageError(`--out is the file ${out}; expected a folder`);
  }
  if (writer.isFolder) return () => mapIntoFolder(out);
  if (withChildren) return (session) => (file) => join(out, `${toFileName(session)}${extname(file)}`);
  if (there === "folder") return () => mapIntoFolder(out);
  if (there === "file" && !isForced) throw new TargetExistsError(out);
  return () => () => out;
}

function toFileName(session: SessionId): string {
  return session.replace(/[^\w.-]+/g, "_").replace(/^\.+/, "_");
}

/** Places files below a folder; throws if a foreign id in a file name would lead outside. */
export function mapIntoFolder(folder: string): PathMapper {
  return (file) => {
    const relative = normalize(file);
    const isOutside = relative.split(sep).includes("..") || relative.startsWith(sep) || /^\w:/.test(relative);
    if (!isOutside && relative !== ".") return join(folder, relative);
    throw new Error(`A writer named the file ${JSON.stringify(file)}, which is not below its folder.`);
  };
}
