import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { computeDigest } from "../../base/digest.ts";
import { parseConfig } from "./config-files.ts";
import { createConfigInvalidError } from "./config-problem.ts";
import { readForeignFile, readOwnedFile } from "./owned-file.ts";

/** A project file that the user trusts as long as its content stays the same. */
interface TrustedFile {
  readonly path: string;
  /** SHA-256 of the trusted content, in hexadecimal digits. */
  readonly sha256: string;
  /** When it was trusted, in milliseconds since 1970. */
  readonly at: number;
}

const FILE_NAME = "trusted.json";
const fileSchema = z.object({
  trusted: z.array(z.object({ path: z.string(), sha256: z.string(), at: z.number() })),
});

/** Lists the trusted files; CONFIG_INVALID if the list is damaged or others could have written it. */
export function listTrusted(folder: string): readonly TrustedFile[] {
  const path = join(folder, FILE_NAME);
  if (!existsSync(path)) return [];
  try {
    return fileSchema.parse(parseConfig(readOwnedFile(path))).trusted;
  } catch (error) {
    const why = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    const message = `${path} cannot be used: ${why}. Delete it and trust the files again.`;
    throw createConfigInvalidError([{ key: "trust", message }], path);
  }
}

/** True if the user has trusted exactly this content at this path. */
export function isTrusted(folder: string, path: string, content: Buffer): boolean {
  const [real, sha256] = [realpathSync(path), computeDigest(content)];
  return listTrusted(folder).some((one) => one.path === real && one.sha256 === sha256);
}

/** Compares a trusted file with its current content; it takes effect only while unchanged. */
export function getTrustState({ path, sha256 }: TrustedFile): "in effect" | "changed" | "gone" {
  try {
    return computeDigest(readForeignFile(path)) === sha256 ? "in effect" : "changed";
  } catch {
    return existsSync(path) ? "changed" : "gone";
  }
}

/** Trusts the content of a file, replacing earlier trust in the same file. */
export function trustContent(folder: string, path: string, content: Buffer, at: number): TrustedFile {
  const trusted = { path: realpathSync(path), sha256: computeDigest(content), at };
  writeTrusted(folder, [...listTrusted(folder).filter((one) => one.path !== trusted.path), trusted]);
  return trusted;
}

/** Withdraws trust from a file; returns the removed record. */
export function removeTrust(folder: string, path: string): TrustedFile | undefined {
  const real = existsSync(path) ? realpathSync(path) : path;
  const all = listTrusted(folder);
  const removed = all.find((one) => one.path === real || one.path === path);
  if (removed)
    writeTrusted(
      folder,
      all.filter((one) => one !== removed),
    );
  return removed;
}

function writeTrusted(folder: string, trusted: readonly TrustedFile[]): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, FILE_NAME);
  const fresh = `${path}.${randomUUID()}`;
  try {
    writeFileSync(fresh, `${JSON.stringify({ trusted }, undefined, 2)}\n`, { mode: 0o600, flag: "wx" });
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}
