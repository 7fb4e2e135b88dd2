import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { openOutsideFile } from "../../../model/base/outside-file.ts";
import { throwIfAborted } from "../../../model/errors.ts";

const CHUNK_BYTES = 1024 * 1024;

/** A file with the SHA-256 of its bytes. */
interface FileDigest {
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** Reads a whole file and returns its digest; with `to`, also writes and syncs a copy. */
export async function digestFile(
  path: string,
  { to, signal }: { readonly to?: string; readonly signal?: AbortSignal | undefined } = {},
): Promise<FileDigest> {
  const hash = createHash("sha256");
  let sizeBytes = 0;
  if (to !== undefined) mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  const { file: source } = await openOutsideFile(path);
  try {
    const target = to === undefined ? undefined : await open(to, "w", 0o600);
    try {
      const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
      for (;;) {
        throwIfAborted(signal);
        const { bytesRead } = await source.read(buffer, 0, CHUNK_BYTES);
        if (bytesRead === 0) break;
        hash.update(buffer.subarray(0, bytesRead));
        for (let at = 0; target && at < bytesRead; )
          at += (await target.write(buffer, at, bytesRead - at)).bytesWritten;
        sizeBytes += bytesRead;
      }
      await target?.datasync();
    } finally {
      await target?.close();
    }
  } finally {
    await source.close();
  }
  return { sha256: hash.digest("hex"), sizeBytes };
}

/** Makes the content of a file or the names in a folder survive a power loss, where the system allows it. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, "r").catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}
