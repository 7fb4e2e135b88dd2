import { homedir } from "node:os";
import { join } from "node:path";
import type { MonitorOptions } from "../../../kernel/faces/log.ts";
import type { KernelOptions } from "../../../kernel/index.ts";
import { checkFields } from "../../../model/argument-checks.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import type { GatewayConfig } from "./config.ts";
import type { FilePlaces } from "./config-files.ts";
import { createConfigInvalidError } from "./config-problem.ts";
import { loadConfig } from "./load-config.ts";

/**
 * Reads the configuration file for a program that opens a kernel itself: the store's folder, its database if it is
 * in one (`LONGHAUL_STORE`, else the file), facts about models, and the monitor. Throws CONFIG_INVALID.
 */
export function readKernelOptions(
  places: Partial<FilePlaces> = {},
): Pick<KernelOptions, "path" | "store" | "models" | "monitor"> {
  checkFields("places", places, {
    path: "name?",
    cwd: "name?",
    store: "name?",
    home: "name?",
    env: "object?",
  });
  const { cwd = process.cwd(), home = homedir(), env = process.env } = places;
  const store = places.store ?? (env.LONGHAUL_HOME || join(home, ".longhaul"));
  const { config } = loadConfig({ ...places, cwd, home, env, store, flags: {} });
  const url = env.LONGHAUL_STORE || config.store;
  return {
    path: store,
    ...dropUndefined({ store: url }),
    models: config.models,
    monitor: toMonitorOptions(config.monitor, store),
  };
}

/** Folder of the heap snapshots inside the store's folder. */
const SNAPSHOT_FOLDER = "heap-snapshots";

/** The settings of the monitor as options of a kernel whose store is in a folder. */
export function toMonitorOptions(
  { enabled, ...limits }: GatewayConfig["monitor"],
  store: string,
): MonitorOptions | false {
  return enabled ? { ...limits, heapSnapshotFolder: join(store, SNAPSHOT_FOLDER) } : false;
}

const STEP = /^(?:\.?([\w$-]+)|\[("(?:[^"\\]|\\.)*")\])/;

/** Parses a key such as `recall.offer` or `models["gpt-5*"].window` into its names; throws CONFIG_INVALID. */
export function parseConfigKey(key: string): readonly [string, ...string[]] {
  const names: string[] = [];
  for (let rest = key; rest !== ""; ) {
    const step = STEP.exec(rest);
    if (!step || (names.length === 0 && rest.startsWith(".")))
      throw createConfigInvalidError([
        {
          key,
          message: `${JSON.stringify(key)} is no key; write it as recall.offer or models["gpt-5*"].window, and change lists as a whole.`,
        },
      ]);
    names.push(step[1] ?? JSON.parse(step[2] as string));
    rest = rest.slice(step[0].length);
  }
  if (names.length === 0)
    throw createConfigInvalidError([{ key: "key", message: "the key is empty; write it as recall.offer." }]);
  return names as [string, ...string[]];
}

/** The value at a key; undefined if it is not set. */
export function getConfigValue(config: object, names: readonly string[]): unknown {
  let value: unknown = config;
  for (const name of names) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}
