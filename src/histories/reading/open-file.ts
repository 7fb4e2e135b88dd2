import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { LonghaulError } from "../../kernel/index.ts";

interface OpenFile {
  readonly file: FileHandle;
  /** Size when it was opened; it may have grown since. */
  readonly sizeBytes: number;
}

/**
 * Opens a plain file for reading. Refuses a link, pipe or folder that has replaced the file since the folder was
 * listed.
 */
export async function openFile(path: string): Promise<OpenFile> {
  let file: FileHandle | undefined;
  try {
    // Without O_NONBLOCK, opening a pipe would block until somebody writes to it.
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const facts = await file.stat();
    if (facts.isFile()) return { file, sizeBytes: facts.size };
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
