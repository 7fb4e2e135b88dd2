import { statSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { checkConfig } from "./check-config.ts";
import type { GatewayConfig } from "./config.ts";
import { candidateFiles } from "./find-file.ts";
import { type ConfigRequest, type LoadedConfig, loadConfig } from "./load-config.ts";

/** What came of looking at the configuration again. */
export interface Reloaded {
  readonly outcome: "unchanged" | "changed" | "refused";
  /** What to tell people; empty where nothing has changed. */
  readonly messages: readonly string[];
}

/** A configuration that follows its file. */
export interface LiveConfig {
  /** The one that holds now. */
  current(): GatewayConfig;
  /** Looks at once, as after a signal. */
  reload(): Reloaded;
  close(): void;
}

/** How a configuration is followed. */
export interface WatchConfigOptions {
  readonly request: ConfigRequest;
  readonly loaded: LoadedConfig;
  /** Told the new configuration, valid and in force. */
  readonly onChange?: (config: GatewayConfig) => void;
  /** Told what came of every look that found something. */
  readonly onReload?: (reloaded: Reloaded) => void;
  /** How often the files are looked at; every second unless given. */
  readonly everyMs?: number;
}

const LOOK_EVERY_MS = 1_000;
/** What a running server cannot change. */
const FIXED = ["host", "port"] as const;

/** Follows the files that the configuration comes, or could come, from. One that is not valid changes nothing. */
export function watchConfig(options: WatchConfigOptions): LiveConfig {
  const { request, loaded, onChange, onReload, everyMs = LOOK_EVERY_MS } = options;
  let { config } = loaded;

  const reload = (): Reloaded => {
    const reloaded = look();
    if (reloaded.outcome === "changed") onChange?.(config);
    if (reloaded.outcome !== "unchanged") onReload?.(reloaded);
    return reloaded;
  };
  const look = (): Reloaded => {
    let next: LoadedConfig;
    try {
      next = loadConfig(request);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return { outcome: "refused", messages: [`The configuration stays as it was. ${why}`] };
    }
    const changed = changedKeys(config, next.config);
    if (changed.length === 0) return { outcome: "unchanged", messages: [] };
    const fixed = FIXED.filter((key) => changed.includes(key));
    const rest = changed.filter((key) => !fixed.some((one) => one === key));
    const merged = { ...next.config, host: config.host, port: config.port };
    // What is fine for the address in the file may not be for the one that is listened on: tokens, above all.
    const problems = checkConfig(merged, request.env);
    if (problems.length > 0) return { outcome: "refused", messages: problems.map(({ message }) => message) };
    config = merged;
    return {
      outcome: rest.length > 0 ? "changed" : "refused",
      messages: [
        ...(rest.length > 0 ? [`The configuration has changed: ${rest.join(", ")}.`] : []),
        ...fixed.map((key) => `${key} is now ${JSON.stringify(next.config[key])}: restart needed.`),
        ...next.warnings,
      ],
    };
  };
  // Editors replace files, and a store's folder changes all the time: asking for each file is cheaper than being told. The
  // first look is for what was saved since the configuration was loaded.
  let seen = "";
  const timer = setInterval(() => {
    const now = candidateFiles(request).map(stampOf).join("\n");
    if (now === seen) return;
    seen = now;
    reload();
  }, everyMs);
  timer.unref();
  return {
    current: () => config,
    reload,
    close: () => clearInterval(timer),
  };
}

/** The top-level settings that differ. */
export function changedKeys(one: GatewayConfig, other: GatewayConfig): readonly (keyof GatewayConfig)[] {
  const keys = Object.keys(one) as (keyof GatewayConfig)[];
  return keys.filter((key) => !isDeepStrictEqual(one[key], other[key]));
}

/** What tells one state of a file from another; that of a file which cannot be looked at is like that of none. */
function stampOf(path: string): string {
  try {
    const { ino, mtimeMs, size } = statSync(path);
    return `${ino} ${mtimeMs} ${size}`;
  } catch {
    return "";
  }
}
