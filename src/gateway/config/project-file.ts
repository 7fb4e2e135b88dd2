import { configSchema } from "./config.ts";
import { type FilePlaces, findUserFolder, listProjectFiles, parseConfig } from "./config-files.ts";
import { createConfigInvalidError } from "./config-problem.ts";
import { readForeignFile } from "./owned-file.ts";
import { toConfigProblems } from "./schema-problems.ts";
import { isTrusted } from "./trusted-files.ts";

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
