import { checkConfig, findConfigWarnings } from "./check-config.ts";
import { chooseUpstreams } from "./choose-upstreams.ts";
import { configSchema, type GatewayConfig, type UpstreamConfig } from "./config.ts";
import { type FilePlaces, findUserFile, readUserFile } from "./config-files.ts";
import { type ConfigFlags, collectGivenValues, SETTING_VARIABLES } from "./config-flags.ts";
import { createConfigInvalidError } from "./config-problem.ts";
import { type ProjectConfig, readProject } from "./project-file.ts";
import { toConfigProblems, type ValueOrigin } from "./schema-problems.ts";
import { listDefaultUpstreams } from "./well-known-upstreams.ts";

/**
 * The sources of settings, in order of precedence: options, environment variables, the trusted settings of the project,
 * the user's file, defaults.
 */
export interface ConfigRequest extends FilePlaces {
  readonly flags: ConfigFlags;
}

/** The source that decided a setting. */
type ConfigSource = "flags" | "environment" | "project" | "file" | "defaults";

/** A complete and valid configuration. */
export interface LoadedConfig {
  readonly config: GatewayConfig;
  /** Warnings about valid settings that are risky. */
  readonly warnings: readonly string[];
  readonly sources: Readonly<Record<keyof GatewayConfig, ConfigSource>>;
  /** The user's file that was read; undefined if there is none. */
  readonly path: string | undefined;
  readonly project: ProjectConfig;
}

const TOKEN_VARIABLE = "LONGHAUL_TOKEN";

/** Throws CONFIG_INVALID unless a file with this content could be used; variables that replace settings do not hide them. */
export function checkFileContent(content: unknown, request: FilePlaces, path: string): void {
  const env = Object.fromEntries(
    Object.entries(request.env).filter(([name]) => !SETTING_VARIABLES.includes(name)),
  );
  const project: ProjectConfig = { settings: {}, path: undefined, notices: [] };
  loadContent(content, { ...request, env, flags: {} }, project, path);
}

/**
 * Loads the configuration; throws CONFIG_INVALID with all problems. The working folder's file is read again unless
 * `project` holds its earlier content.
 */
export function loadConfig(
  request: ConfigRequest,
  project: ProjectConfig = readProject(request),
): LoadedConfig {
  const path = findUserFile(request);
  return loadContent(path === undefined ? {} : readUserFile(path), request, project, path);
}

function loadContent(
  file: unknown,
  { env, flags }: ConfigRequest,
  project: ProjectConfig,
  path: string | undefined,
): LoadedConfig {
  if (typeof file !== "object" || file === null || Array.isArray(file))
    throw createConfigInvalidError(
      [{ key: "the file", message: "the file is no JSON object; expected { … }." }],
      path,
    );
  const raw: Record<string, unknown> = structuredClone(file) as Record<string, unknown>;
  const from = new Map<string, ConfigSource>(Object.keys(raw).map((key) => [key, "file"]));
  const given = new Map<string, ValueOrigin>();
  for (const [key, value] of Object.entries(project.settings)) {
    raw[key] = value;
    from.set(key, "project");
    given.set(key, { label: `${key} of ${project.path}` });
  }
  for (const { path: keys, value, from: source, as } of collectGivenValues(flags, env)) {
    setValueAt(raw, keys, value);
    from.set(keys[0], source);
    given.set(keys.join("."), as);
  }
  const listed = raw.upstreams ?? listDefaultUpstreams(env);
  const chosen = Array.isArray(listed) ? chooseUpstreams(listed, flags, env) : undefined;
  raw.upstreams = chosen?.upstreams ?? listed;
  for (const [key, as] of chosen?.given ?? []) given.set(key, as);
  if (chosen?.from) from.set("upstreams", chosen.from);
  if (env[TOKEN_VARIABLE] && addToken(raw)) from.set("tokens", "environment");

  const parsed = configSchema.safeParse(raw);
  if (!parsed.success)
    throw createConfigInvalidError(toConfigProblems(parsed.error.issues, raw, given), path);
  const { $schema: _, ...settings } = parsed.data;
  const config: GatewayConfig = { ...settings, upstreams: settings.upstreams.map(withDefaults) };
  const problems = checkConfig(config, env);
  if (problems.length > 0) throw createConfigInvalidError(problems, path);
  const sources = Object.fromEntries(Object.keys(config).map((key) => [key, from.get(key) ?? "defaults"]));
  return {
    config,
    sources: sources as LoadedConfig["sources"],
    path,
    project,
    warnings: [...(chosen?.warnings ?? []), ...findConfigWarnings(config)],
  };
}

/** Sets a value, inside an object for a nested key; a non-object there is left for the schema to report. */
function setValueAt(
  raw: Record<string, unknown>,
  keys: readonly [string, ...string[]],
  value: unknown,
): void {
  const [first, second] = keys;
  if (second === undefined) raw[first] = value;
  else {
    const inner = raw[first] ?? {};
    if (typeof inner === "object") raw[first] = { ...inner, [second]: value };
  }
}

function addToken(raw: Record<string, unknown>): boolean {
  const tokens = raw.tokens ?? [];
  if (!Array.isArray(tokens)) return false;
  if (tokens.some((token) => (token as { readonly env?: unknown } | null)?.env === TOKEN_VARIABLE))
    return false;
  raw.tokens = [...tokens, { name: "default", env: TOKEN_VARIABLE }];
  return true;
}

function withDefaults(upstream: UpstreamConfig): UpstreamConfig {
  const isOwn = new URL(upstream.baseUrl).hostname === "api.anthropic.com";
  return { contextManagement: isOwn ? "upstream" : "gateway", ...upstream };
}
