import { statSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { checkConfig } from "./check-config.ts";
import type { GatewayConfig } from "./config.ts";
import { candidateFiles } from "./find-file.ts";
import { type ConfigRequest, type LoadedConfig, loadConfig } from "./load-config.ts";
import { ConfigInvalidError, type ConfigProblem } from "./problem.ts";

/** What came of looking at the configuration again. */
export interface Reloaded {
  readonly outcome: "unchanged" | "changed" | "refused";
  /** What to tell people; empty where nothing has changed. */
  readonly messages: readonly string[];
  /** What is wrong, where it was refused for that. */
  readonly problems?: readonly ConfigProblem[];
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
  /** Told what came of every look that found something; what was refused is told once, until a file is saved again. */
  readonly onReload?: (reloaded: Reloaded) => void;
  /** How often the files are looked at; every second unless given. */
  readonly everyMs?: number;
}

const LOOK_EVERY_MS = 1_000;
/** What a running server cannot change. */
const FIXED = ["host", "port"] as const;

/** Follows the files that the configuration comes, or could come, from. One that is not valid changes nothing. */
export function watchConfig(options: WatchConfigOptions): LiveConfig {
  const { request, loaded, onReload, everyMs = LOOK_EVERY_MS } = options;
  let { config } = loaded;
  /** State of the files at the last look, and at the last one that was refused. */
  let seen: string | undefined;
  let refused: string | undefined;

  const reload = (): Reloaded => {
    seen = stampOfAll(request);
    const reloaded = look();
    const isRefused = reloaded.outcome === "refused";
    if (reloaded.outcome !== "unchanged" && !(isRefused && refused === seen)) onReload?.(reloaded);
    refused = isRefused ? seen : undefined;
    return reloaded;
  };
  const look = (): Reloaded => {
    let next: LoadedConfig;
    try {
      next = loadConfig(request);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const problems =
        error instanceof ConfigInvalidError ? error.problems : [{ key: "the file", message: why }];
      return { outcome: "refused", messages: [`The configuration stays as it was. ${why}`], problems };
    }
    const changed = changedKeys(config, next.config);
    if (changed.length === 0) return { outcome: "unchanged", messages: [] };
    const fixed = FIXED.filter((key) => changed.includes(key));
    const rest = changed.filter((key) => !fixed.some((one) => one === key));
    const merged = { ...next.config, host: config.host, port: config.port };
    // What is fine for the address in the file may not be for the one that is listened on: tokens, above all.
    const problems = checkConfig(merged, request.env);
    if (problems.length > 0)
      return { outcome: "refused", messages: problems.map(({ message }) => message), problems };
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
  const timer = setInterval(() => {
    if (stampOfAll(request) !== seen) reload();
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

function stampOfAll(request: ConfigRequest): string {
  return candidateFiles(request).map(stampOf).join("\n");
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
