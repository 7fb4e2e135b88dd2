import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { LonghaulError } from "../../index.ts";

/**
 * Opens a plain file for reading. A link, a pipe or a folder may have taken its place since the folder was listed; they
 * are refused.
 */
export async function openFile(path: string): Promise<FileHandle> {
  let file: FileHandle | undefined;
  try {
    // Without O_NONBLOCK, opening a pipe would wait until somebody writes into it.
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if ((await file.stat()).isFile()) return file;
    throw new Error("it is not a plain file");
  } catch (error) {
    await file?.close();
    const { message } = error as Error;
    throw new LonghaulError("SOURCE_UNREADABLE", `${path} cannot be read: ${message}.`, {
      cause: error,
      details: { path },
    });
  }
}
