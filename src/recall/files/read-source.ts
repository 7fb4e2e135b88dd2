import { openOutsideFile } from "../../model/base/outside-file.ts";
import { maskSecrets } from "../../model/secrets/mask-secrets.ts";

/** A file as it is indexed and recalled. */
interface SourceFile {
  readonly bytes: Buffer;
  /** The text with secrets masked, so that they reach neither the index nor a prompt. */
  readonly text: string;
}

/** Reads a regular file; throws for links, pipes and devices, even if one has replaced the file meanwhile. */
export async function readSource(path: string): Promise<SourceFile> {
  await using file = (await openOutsideFile(path)).file;
  const bytes = await file.readFile();
  return { bytes, text: isBinary(bytes) ? "" : maskSecrets(bytes.toString("utf8")) };
}

/** Text has no zero bytes near its beginning; git uses the same test. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, 8_000).includes(0);
}
