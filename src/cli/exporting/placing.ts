import { extname, join, normalize, sep } from "node:path";
import type { Writer } from "../../formats/index.ts";
import type { SessionId } from "../../index.ts";
import { UsageError } from "../usage-error.ts";
import { AlreadyThere, kindOf } from "./staging.ts";

/** Where a file that a writer names goes. */
export type Placing = (file: string) => string;

/** What an export is to leave behind. */
export interface Wanted {
  readonly out: string;
  readonly writer: Writer;
  /** Sub-agents too, each in a file of its own; writers of folders have them in there anyway. */
  readonly withChildren: boolean;
  readonly isForced: boolean;
}

/** Where the files of each session go. What cannot work is refused before anything is read. */
export async function placingFor(wanted: Wanted): Promise<(session: SessionId) => Placing> {
  const { out, writer, withChildren, isForced } = wanted;
  const there = await kindOf(out);
  if (there === "file" && (writer.isFolder || withChildren)) {
    throw new UsageError(`--out is the file ${out}; expected a folder`);
  }
  if (writer.isFolder) return () => withinFolder(out);
  if (withChildren) return (session) => (file) => join(out, `${fileName(session)}${extname(file)}`);
  if (there === "folder") return () => withinFolder(out);
  if (there === "file" && !isForced) throw new AlreadyThere(out);
  return () => () => out;
}

function fileName(session: SessionId): string {
  return session.replace(/[^\w.-]+/g, "_").replace(/^\.+/, "_");
}

/** Files below a folder; never outside, whatever a foreign id in their name says. */
export function withinFolder(folder: string): Placing {
  return (file) => {
    const relative = normalize(file);
    const isOutside = relative.split(sep).includes("..") || relative.startsWith(sep) || /^\w:/.test(relative);
    if (!isOutside && relative !== ".") return join(folder, relative);
    throw new Error(`A writer named the file ${JSON.stringify(file)}, which is not below its folder.`);
  };
}
