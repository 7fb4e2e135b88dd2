import { statSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import type { GatewayConfig } from "./config.ts";
import { listUserFiles } from "./config-files.ts";
import { ConfigInvalidError, type ConfigProblem } from "./config-problem.ts";
import { type ConfigRequest, checkConfig, type LoadedConfig, loadConfig } from "./load-config.ts";

/** The result of reloading the configuration. */
export interface ReloadResult {
  readonly outcome: "unchanged" | "changed" | "refused";
  /** Messages for people; empty if nothing changed. */
  readonly messages: readonly string[];
  /** The problems, if they caused the refusal. */
  readonly problems?: readonly ConfigProblem[];
}

/** A configuration that follows the user's file. */
export interface LiveConfig {
  /** The configuration in force. */
  current(): GatewayConfig;
  /** Reloads at once on the user's request: guarded settings change too, and the project's file is read again. */
  reload(): ReloadResult;
  close(): void;
}

interface WatchConfigOptions {
  readonly request: ConfigRequest;
  readonly loaded: LoadedConfig;
  /** Called for every reload with a result other than "unchanged"; the same refusal is reported once per saved file. */
  readonly onReload?: (reloaded: ReloadResult) => void;
  /** Interval between checks of the files, default one second. */
  readonly everyMs?: number;
}

const CHECK_EVERY_MS = 1_000;
/** Settings that cannot change while the server runs. */
const FIXED_KEYS = ["host", "port", "store"] as const;

/**
 * Follows the user's configuration file. An invalid file changes nothing; a saved file changes guarded settings only
 * where that restricts something. The project's file is not followed.
 */
export function watchConfig(options: WatchConfigOptions): LiveConfig {
  const { request, loaded, onReload, everyMs = CHECK_EVERY_MS } = options;
  let { config, project } = loaded;
  /** State of the files at the last check, and at the last refused one. */
  let seen: string | undefined;
  let refused: string | undefined;

  const reload = (isAsked: boolean): ReloadResult => {
    seen = stampFiles(request);
    const reloaded = look(isAsked);
    const isRefused = reloaded.outcome === "refused";
    if (reloaded.outcome !== "unchanged" && !(isRefused && refused === seen)) onReload?.(reloaded);
    refused = isRefused ? seen : undefined;
    return reloaded;
  };
  const look = (isAsked: boolean): ReloadResult => {
    let next: LoadedConfig;
    try {
      next = isAsked ? loadConfig(request) : loadConfig(request, project);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const problems =
        error instanceof ConfigInvalidError ? error.problems : [{ key: "the file", message: why }];
      return { outcome: "refused", messages: [`The configuration is unchanged. ${why}`], problems };
    }
    const notices = isAsked ? next.project.notices : [];
    project = next.project;
    const changed = findChangedKeys(config, next.config);
    if (changed.length === 0) return { outcome: "unchanged", messages: [] };
    const fixed = FIXED_KEYS.filter((key) => changed.includes(key));
    const opens = config.tokens.length > 0 && next.config.tokens.length === 0;
    const held = isAsked ? (opens ? (["tokens"] as const) : []) : findGuardedChanges(config, next.config);
    const kept = [...fixed, ...held];
    const rest = changed.filter((key) => !kept.some((one) => one === key));
    const merged = { ...next.config, ...Object.fromEntries(kept.map((key) => [key, config[key]])) };
    // Settings valid for the address in the file may be invalid for the current address, above all tokens.
    const problems = checkConfig(merged, request.env);
    if (problems.length > 0)
      return { outcome: "refused", messages: problems.map(({ message }) => message), problems };
    config = merged;
    return {
      outcome: rest.length > 0 ? "changed" : "refused",
      messages: [
        ...(rest.length > 0 ? [`The configuration has changed: ${rest.join(", ")}.`] : []),
        ...fixed.map((key) => `${key} is now ${JSON.stringify(next.config[key])}: restart needed.`),
        ...held.map((key) => describeHeldKey(key, opens)),
        ...next.warnings,
        ...notices,
      ],
    };
  };
  // Polling each file is cheaper than watching: editors replace files, and the folder of a store changes constantly.
  // The first check finds files saved since the configuration was loaded.
  const timer = setInterval(() => {
    if (stampFiles(request) !== seen) reload(false);
  }, everyMs);
  timer.unref();
  return {
    current: () => config,
    reload: () => reload(true),
    close: () => clearInterval(timer),
  };
}

/** The top-level settings that differ. */
function findChangedKeys(one: GatewayConfig, other: GatewayConfig): readonly (keyof GatewayConfig)[] {
  const keys = Object.keys(one) as (keyof GatewayConfig)[];
  return keys.filter((key) => !isDeepStrictEqual(one[key], other[key]));
}

function describeHeldKey(key: string, opens: boolean): string {
  return key === "tokens" && opens
    ? "tokens is now empty, which would let everyone in: restart needed."
    : `${key} changed but is not in effect: send SIGHUP or restart the gateway to apply it.`;
}

function stampFiles(request: ConfigRequest): string {
  return listUserFiles(request).map(stampFile).join("\n");
}

/** Identifies the state of a file; an inaccessible file counts as missing. */
function stampFile(path: string): string {
  try {
    const { ino, mtimeMs, size } = statSync(path);
    return `${ino} ${mtimeMs} ${size}`;
  } catch {
    return "";
  }
}

/** Settings that decide who is admitted, where requests and keys go, and which data leaves the machine. */
const GUARDED_KEYS = [
  "upstreams",
  "tokens",
  "team",
  "allowedOrigins",
  "allowedHosts",
  "telemetry",
  "redact",
  "oidc",
  "publicUrl",
  "alerts",
] as const satisfies readonly (keyof GatewayConfig)[];

type GuardedKey = (typeof GUARDED_KEYS)[number];

/** Guarded settings that saving the file does not change: all of them, unless the change only restricts something. */
function findGuardedChanges(now: GatewayConfig, next: GatewayConfig): readonly GuardedKey[] {
  return GUARDED_KEYS.filter(
    (key) => !isDeepStrictEqual(now[key], next[key]) && !isNarrowing(key, now, next),
  );
}

/** True if a change admits fewer callers or sends out less data. */
function isNarrowing(key: GuardedKey, now: GatewayConfig, next: GatewayConfig): boolean {
  switch (key) {
    case "tokens":
      // Removing the last token would open the gateway to everyone.
      return next.tokens.length > 0 && isPartOf(next.tokens, now.tokens);
    case "allowedOrigins":
    case "allowedHosts":
      return isPartOf(next[key], now[key]);
    case "telemetry":
      return next.telemetry.endpoint === undefined;
    case "team":
      return next.team;
    case "redact":
      return next.redact === true;
    case "oidc":
      return next.oidc === undefined;
    case "publicUrl":
    case "alerts":
    case "upstreams":
      return false;
  }
}

function isPartOf(some: readonly unknown[], all: readonly unknown[]): boolean {
  return some.every((one) => all.some((other) => isDeepStrictEqual(one, other)));
}
