import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { computeDigest } from "../../../model/base/digest.ts";
import { configSchema } from "./config.ts";
import {
  type FilePlaces,
  findUserFolder,
  listProjectFiles,
  parseConfig,
  readForeignFile,
  readOwnedFile,
} from "./config-files.ts";
import { createConfigInvalidError, toConfigProblems } from "./config-problem.ts";

/** Settings that a project may decide: none of them affects where keys, conversations or requests go. */
const PROJECT_KEYS = ["policy", "threshold", "dryRun", "shrink"] as const;

/** The settings contributed by the working folder's configuration files. */
export interface ProjectConfig {
  /** Only settings in PROJECT_KEYS, and only from a file that the user trusts. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The trusted file that the settings come from. */
  readonly path: string | undefined;
  /** Messages about ignored files and settings, with reasons. */
  readonly notices: readonly string[];
}

/** A parsed project file, split into permitted and ignored settings. */
interface ProjectSettings {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly ignored: readonly string[];
}

/**
 * Reads the configuration files of the working folder; an unusable file is ignored with a notice and never causes an
 * error.
 */
export function readProject(places: FilePlaces): ProjectConfig {
  const [path, ...others] = listProjectFiles(places);
  const notices = others.map((other) => `${other} was ignored: ${path} comes first.`);
  if (path === undefined) return { settings: {}, path, notices };
  const ignore = (notice: string): ProjectConfig => ({
    settings: {},
    path: undefined,
    notices: [notice, ...notices],
  });
  let bytes: Buffer;
  let split: ProjectSettings;
  try {
    bytes = readForeignFile(path);
    split = splitSettings(parseConfig(bytes));
  } catch (error) {
    return ignore(
      `${path} was ignored: it cannot be read (${error instanceof Error ? error.message : error}).`,
    );
  }
  const { settings, ignored } = split;
  const owner = findUserFolder(places);
  const isKnown = owner !== undefined && isTrusted(owner, path, bytes);
  const usable = Object.keys(settings);
  if (!isKnown && usable.length > 0)
    return ignore(
      `${path} was ignored: you have not trusted this content (it sets ${[...usable, ...ignored].join(", ")}). "longhaul trust" shows it and lets ${usable.join(", ")} take effect.`,
    );
  if (ignored.length > 0)
    notices.unshift(
      `${path}: ${ignored.join(", ")} ignored. A working folder may only set ${PROJECT_KEYS.join(", ")}; put the rest into ${describeUserFile(owner)} or name the file with --config.`,
    );
  return { settings, path: usable.length > 0 ? path : undefined, notices };
}

/** True if a project may decide a setting. */
export function isProjectKey(name: string): boolean {
  return PROJECT_KEYS.some((key) => key === name);
}

/** Reads a project file that the user wants to trust; CONFIG_INVALID if its settings cannot be used. */
export function readTrustableFile(path: string): ProjectSettings & { readonly content: Buffer } {
  const refuse = (key: string, message: string) => createConfigInvalidError([{ key, message }], path);
  let content: Buffer;
  let split: ProjectSettings;
  try {
    content = readForeignFile(path);
    split = splitSettings(parseConfig(content));
  } catch (error) {
    throw refuse("the file", `${path} cannot be read: ${error instanceof Error ? error.message : error}.`);
  }
  const parsed = configSchema
    .pick({ policy: true, threshold: true, dryRun: true, shrink: true })
    .safeParse(split.settings);
  if (!parsed.success)
    throw createConfigInvalidError(toConfigProblems(parsed.error.issues, split.settings, new Map()), path);
  if (Object.keys(split.settings).length === 0)
    throw refuse("the file", `${path} sets nothing that a project may decide (${PROJECT_KEYS.join(", ")}).`);
  return { ...split, content };
}

/** Splits a parsed file into the settings that a project may decide and the names of all others. */
function splitSettings(file: unknown): ProjectSettings {
  if (typeof file !== "object" || file === null || Array.isArray(file))
    throw new Error("it is no JSON object");
  const names: readonly string[] = PROJECT_KEYS;
  const entries = Object.entries(file).filter(([key]) => key !== "$schema");
  return {
    settings: Object.fromEntries(entries.filter(([key]) => names.includes(key))),
    ignored: entries.map(([key]) => key).filter((key) => !names.includes(key)),
  };
}

function describeUserFile(owner: string | undefined): string {
  return owner === undefined ? "your own configuration" : `${owner}/longhaul.json`;
}

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
