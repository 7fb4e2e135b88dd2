import { existsSync, readFileSync } from "node:fs";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { getStorePath } from "../open-store.ts";

/** A file that may hold settings. */
interface SettingsFile {
  readonly level: "project" | "user";
  readonly path: string;
  readonly exists: boolean;
  /** True if its settings take effect. */
  readonly isInEffect: boolean;
}

/** One setting in force. */
interface EffectiveSetting {
  readonly key: string;
  readonly value: unknown;
  readonly source: string;
}

/** Lists the files with settings, in order of precedence. */
export async function listSettingsFiles(
  context: CliContext,
  options: CommonValues & { readonly config?: string },
): Promise<readonly SettingsFile[]> {
  const { chooseUserFile, findUserFolder, isTrusted, listProjectFiles } = await import(
    "../../gateway/config/index.ts"
  );
  const places = getPlaces(context, options);
  const folder = findUserFolder(places);
  const projects = listProjectFiles(places).map((path, index): SettingsFile => {
    const isKnown = folder !== undefined && isTrusted(folder, path, readFileSync(path));
    return { level: "project", path, exists: true, isInEffect: index === 0 && isKnown };
  });
  const user = chooseUserFile(places);
  if (user === undefined) return projects;
  const exists = existsSync(user);
  return [...projects, { level: "user", path: user, exists, isInEffect: exists }];
}

/** Reads the settings in force, at a key or all of them, with the source of each. */
export async function readSettings(
  context: CliContext,
  options: CommonValues & { readonly config?: string },
  key: string | undefined,
): Promise<readonly EffectiveSetting[] | undefined> {
  const { getConfigValue, loadConfig, parseConfigKey } = await import("../../gateway/config/index.ts");
  const { config, sources } = loadConfig({ ...getPlaces(context, options), flags: {} });
  if (key === undefined)
    return Object.entries(config).map(([name, value]) => ({
      key: name,
      value,
      source: sources[name as keyof typeof sources],
    }));
  const names = parseConfigKey(key);
  const value = getConfigValue(config, names);
  if (value === undefined) return undefined;
  return [{ key, value, source: sources[names[0] as keyof typeof sources] }];
}

function getPlaces(context: CliContext, options: CommonValues & { readonly config?: string }) {
  const { cwd, home, env } = context;
  const store = getStorePath(context, options);
  return { cwd, home, env, store, ...(options.config !== undefined && { path: options.config }) };
}
