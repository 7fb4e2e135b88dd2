import { basename, dirname, relative, resolve, sep } from "node:path";
import { LonghaulError } from "../../kernel/index.ts";
import { isWithin, joinInside } from "../../model/base/join-inside.ts";
import type { Format } from "../port/format.ts";

/** Endings of the files in which agents keep conversations; a shell, an editor or an agent runs none of them. */
const DATA_FILE =
  /\.(jsonl?|ndjson|txt|log|csv|html?|xml|bin|pdf|png|jpe?g|gif|webp|svg)(\.(gz|zst)|\.(reset|deleted|bak)\b.*)?$/i;
/** The only hidden folder in which an agent keeps transcripts: Antigravity's. */
const HIDDEN_FOLDER = ".system_generated";
const AIDER_FILE = /^\.aider[\w.]*\.md$/;

/**
 * The place of a kept file on this computer: below its agent's folder, if it was read from elsewhere. A store may come
 * from somebody else, so PATH_REFUSED is thrown for a path that leads outside and for a name that no agent writes.
 */
export async function placeKeptFile(kept: string, format: Format, homes: readonly string[]): Promise<string> {
  const path = isForeign(kept) ? kept : resolve(kept);
  // Only Aider keeps its file in the project, which must be there.
  if (format.name === "aider" && AIDER_FILE.test(basename(path)))
    return joinInside(dirname(path), basename(path));
  const [first] = homes;
  if (first === undefined) throw createRefusal(path, `${format.title} has no folder of its own`);
  const own = homes.find((home) => isWithin(path, home));
  const name = own === undefined ? findNameBelow(path, basename(first)) : toName(relative(own, path));
  const pieces = name.split("/");
  if (pieces.some((piece) => piece.startsWith(".") && piece !== HIDDEN_FOLDER))
    throw createRefusal(name, `${format.title} writes no hidden files`);
  if (!DATA_FILE.test(name)) throw createRefusal(name, `${format.title} writes no files with this ending`);
  return joinInside(own ?? first, name);
}

/** The part of a path behind the agent's folder; its last folder and name if it was never there. */
function findNameBelow(path: string, home: string): string {
  const pieces = isForeign(path) ? path.split(/[\\/]/) : path.split(sep);
  const at = pieces.lastIndexOf(home);
  return (at >= 0 ? pieces.slice(at + 1) : pieces.slice(-2)).join("/");
}

function toName(path: string): string {
  return path.split(sep).join("/");
}

/** True for the path of another system, which `resolve` would put below the current folder. */
function isForeign(path: string): boolean {
  return sep === "/" && (/^[A-Za-z]:[\\/]/.test(path) || path.startsWith("\\\\"));
}

function createRefusal(path: string, reason: string): LonghaulError {
  return new LonghaulError("PATH_REFUSED", `${JSON.stringify(path)} is not written: ${reason}.`, {
    details: { path, reason },
  });
}
