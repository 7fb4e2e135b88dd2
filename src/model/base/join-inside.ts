import { lstat, realpath } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import { LonghaulError } from "../errors.ts";

/** Names that Windows gives to devices, whatever their extension. */
const DEVICES = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\.|$)/i;
const MAX_NAME_BYTES = 255;

/**
 * Joins a name from outside, such as one in a store, an archive or another program's file, to a folder. The result is
 * below the folder on every system, also where a link replaced a folder in between; PATH_REFUSED otherwise. The name may
 * have several pieces, separated by "/".
 */
export async function joinInside(root: string, name: string): Promise<string> {
  const path = join(root, ...splitName(name));
  const [realRoot, real] = [await resolveExisting(root), await resolveExisting(path)];
  if (!isWithin(real, realRoot)) throw createRefusal(name, `a link leads it out of ${root}`);
  return path;
}

/** The pieces of a name from outside; throws PATH_REFUSED if any system reads one of them as more than a name. */
function splitName(name: string): readonly string[] {
  const pieces = name.split("/");
  for (const piece of pieces) {
    const reason = findFault(piece);
    if (reason !== undefined) throw createRefusal(name, reason);
  }
  return pieces;
}

/** Tells whether a path is a folder or below it. Both must be free of links. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function findFault(piece: string): string | undefined {
  if (piece === "") return "a piece of it is empty";
  if (/^\.+$/.test(piece)) return "it has dots in place of a name";
  if (piece.includes("\\")) return "it has a backslash, which separates folders on Windows";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are looked for.
  if (/[\u0000-\u001f\u007f]/.test(piece)) return "it has a control character";
  if (process.platform === "win32" ? piece.includes(":") : /^[A-Za-z]:/.test(piece))
    return "it has a colon, which names a drive or a stream on Windows";
  if (/[. ]$/.test(piece)) return "it ends in a dot or a space, which Windows leaves out";
  if (DEVICES.test(piece)) return "it is the name of a device on Windows";
  return Buffer.byteLength(piece) > MAX_NAME_BYTES ? `it is longer than ${MAX_NAME_BYTES} bytes` : undefined;
}

/** The real path of the folders that exist, with the names below them as they are. */
async function resolveExisting(path: string): Promise<string> {
  const absolute = resolve(path);
  try {
    return await realpath(absolute);
  } catch (error) {
    const above = dirname(absolute);
    const { code } = error as NodeJS.ErrnoException;
    const isMissing = code === "ENOENT" || code === "ENOTDIR";
    // A link without a target exists, but has no real path.
    if (!isMissing || above === absolute || (await isLink(absolute)))
      throw createRefusal(path, `it cannot be resolved: ${(error as Error).message}`);
    return join(await resolveExisting(above), absolute.slice(above.length));
  }
}

async function isLink(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isSymbolicLink() === true;
}

function createRefusal(name: string, reason: string): LonghaulError {
  const shown = JSON.stringify(name.length > 200 ? `${name.slice(0, 200)}…` : name);
  return new LonghaulError("PATH_REFUSED", `The name ${shown} is not used as a path: ${reason}.`, {
    details: { path: name.slice(0, 200), reason },
  });
}
