// Restricts paths to the working folder: links are resolved before they are checked.
import { realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";

/** The absolute path of a file in a folder; throws a sentence for the model if it lies outside. */
export async function inside(folder: string, path: string): Promise<string> {
  const root = await realpath(folder);
  const wanted = resolve(root, path);
  const real = await realOf(wanted);
  const way = relative(root, real);
  if (way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way))
    throw new Error(`${path} lies outside of the working folder; only paths inside of it can be used.`);
  return real;
}

/** Resolves the existing part of a path. */
async function realOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || dirname(path) === path) throw error;
    return join(await realOf(dirname(path)), path.slice(dirname(path).length));
  }
}
