import { homedir } from "node:os";
import { join } from "node:path";
import type { KernelOptions } from "../../index.ts";
import { checkFields } from "../../model/argument-checks.ts";
import type { FilePlaces } from "./config-files.ts";
import { loadConfig } from "./load-config.ts";
import { toMonitorOptions } from "./monitor-settings.ts";

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
    ...(url !== undefined && { store: url }),
    models: config.models,
    monitor: toMonitorOptions(config.monitor, store),
  };
}
