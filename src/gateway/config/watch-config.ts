import { statSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { checkConfig } from "./check-config.ts";
import type { GatewayConfig } from "./config.ts";
import { userFiles } from "./find-file.ts";
import { heldChanges } from "./held-changes.ts";
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

/** A configuration that follows the user's file. */
export interface LiveConfig {
  /** The one that holds now. */
  current(): GatewayConfig;
  /** Reloads at once because the user asked for it: guarded settings change, and the project's file is read again. */
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

/**
 * Follows the user's configuration file. A file that is not valid changes nothing; a saved one changes guarded settings only
 * where that takes something away. The project's file is not followed.
 */
export function watchConfig(options: WatchConfigOptions): LiveConfig {
  const { request, loaded, onReload, everyMs = LOOK_EVERY_MS } = options;
  let { config, project } = loaded;
  /** State of the files at the last look, and at the last one that was refused. */
  let seen: string | undefined;
  let refused: string | undefined;

  const reload = (isAsked: boolean): Reloaded => {
    seen = stampOfAll(request);
    const reloaded = look(isAsked);
    const isRefused = reloaded.outcome === "refused";
    if (reloaded.outcome !== "unchanged" && !(isRefused && refused === seen)) onReload?.(reloaded);
    refused = isRefused ? seen : undefined;
    return reloaded;
  };
  const look = (isAsked: boolean): Reloaded => {
    let next: LoadedConfig;
    try {
      next = isAsked ? loadConfig(request) : loadConfig(request, project);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const problems =
        error instanceof ConfigInvalidError ? error.problems : [{ key: "the file", message: why }];
      return { outcome: "refused", messages: [`The configuration stays as it was. ${why}`], problems };
    }
    const notices = isAsked ? next.project.notices : [];
    project = next.project;
    const changed = changedKeys(config, next.config);
    if (changed.length === 0) return { outcome: "unchanged", messages: [] };
    const fixed = FIXED.filter((key) => changed.includes(key));
    const opens = config.tokens.length > 0 && next.config.tokens.length === 0;
    const held = isAsked ? (opens ? (["tokens"] as const) : []) : heldChanges(config, next.config);
    const kept = [...fixed, ...held];
    const rest = changed.filter((key) => !kept.some((one) => one === key));
    const merged = { ...next.config, ...Object.fromEntries(kept.map((key) => [key, config[key]])) };
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
        ...held.map((key) => heldMessage(key, opens)),
        ...next.warnings,
        ...notices,
      ],
    };
  };
  // Editors replace files, and a store's folder changes all the time: asking for each file is cheaper than being told. The
  // first look is for what was saved since the configuration was loaded.
  const timer = setInterval(() => {
    if (stampOfAll(request) !== seen) reload(false);
  }, everyMs);
  timer.unref();
  return {
    current: () => config,
    reload: () => reload(true),
    close: () => clearInterval(timer),
  };
}

/** The top-level settings that differ. */
export function changedKeys(one: GatewayConfig, other: GatewayConfig): readonly (keyof GatewayConfig)[] {
  const keys = Object.keys(one) as (keyof GatewayConfig)[];
  return keys.filter((key) => !isDeepStrictEqual(one[key], other[key]));
}

function heldMessage(key: string, opens: boolean): string {
  return key === "tokens" && opens
    ? "tokens is now empty, which would let everyone in: restart needed."
    : `${key} has changed and stays as it was: SIGHUP or a restart makes it take effect.`;
}

function stampOfAll(request: ConfigRequest): string {
  return userFiles(request).map(stampOf).join("\n");
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
