import { findNearestWords } from "../../../model/edit-distance.ts";
import { estimateTokenBits, MIN_TOKEN_BITS } from "./access-token.ts";
import { configSchema, type GatewayConfig, type TokenConfig, type UpstreamConfig } from "./config.ts";
import { type FilePlaces, findUserFile, readUserFile } from "./config-files.ts";
import { type ConfigFlags, collectGivenValues, type Environment, SETTING_VARIABLES } from "./config-flags.ts";
import {
  type ConfigProblem,
  createConfigInvalidError,
  toConfigProblems,
  type ValueOrigin,
} from "./config-problem.ts";
import { type ProjectConfig, readProject } from "./project-file.ts";
import { API_NAMES, isLoopback } from "./schema-values.ts";
import {
  configureUpstream,
  isAnthropicHost,
  listDefaultUpstreams,
  OPEN_APIS,
  WELL_KNOWN_UPSTREAMS,
} from "./well-known-upstreams.ts";

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
  const { publicUrl, allowedHosts, team, tokens, redact } = settings;
  const isShared = team || tokens.length > 1;
  const config: GatewayConfig = {
    ...settings,
    upstreams: settings.upstreams.map(withDefaults),
    allowedHosts: publicUrl === undefined ? allowedHosts : [...allowedHosts, new URL(publicUrl).host],
    ...(redact === undefined && isShared && { redact: true }),
  };
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
  const isOwn = isAnthropicHost(upstream.baseUrl);
  return { contextManagement: isOwn ? "upstream" : "gateway", ...upstream };
}

const NEW_TOKEN = '"longhaul serve --new-token" makes a good one';

/** Problems between settings, or between settings and the environment, that are each valid on their own. */
export function checkConfig(config: GatewayConfig, env: Environment): readonly ConfigProblem[] {
  const { host, tokens, team, upstreams } = config;
  const problems = [
    ...tokens.flatMap((token, index) => findTokenProblems(token, index, env)),
    ...findRepeated(tokens, "name", "tokens"),
    ...findRepeated(upstreams, "name", "upstreams"),
    ...findRepeated(upstreams, "prefix", "upstreams"),
  ];
  const { warningBytes, criticalBytes } = config.monitor;
  if (warningBytes > criticalBytes)
    problems.push({
      key: "monitor.warningBytes",
      message: `monitor.warningBytes is ${warningBytes}; expected at most monitor.criticalBytes (${criticalBytes}).`,
    });
  if (!isLoopback(host) && tokens.length === 0 && !team) {
    problems.push({
      key: "host",
      message: `host is ${JSON.stringify(host)}, which others can reach, and there is no token; set LONGHAUL_TOKEN (${NEW_TOKEN}), set "team": true and add people with "longhaul token add", or leave host at 127.0.0.1.`,
    });
  }
  return problems;
}

/** Warnings about valid settings that are risky. */
function findConfigWarnings({ upstreams }: GatewayConfig): readonly string[] {
  return upstreams.flatMap(({ name, baseUrl }) => {
    const { protocol, hostname } = new URL(baseUrl);
    const isOpen = protocol === "http:" && !isLoopback(hostname);
    return isOpen
      ? [`Upstream ${name} is reached without encryption (${baseUrl}); https:// hides keys.`]
      : [];
  });
}

function findTokenProblems(
  { env: variable, sha256 }: TokenConfig,
  index: number,
  env: Environment,
): readonly ConfigProblem[] {
  const key = `tokens[${index}]`;
  const problem = (message: string) => [{ key, message }];
  if ((variable === undefined) === (sha256 === undefined))
    return problem(`${key} needs either env, the variable that holds the token, or sha256, its digest.`);
  if (variable === undefined) return [];
  if (!/^[A-Za-z_]\w*$/.test(variable) || variable.length > 100)
    return problem(`${key}.env is no name of a variable; write the name there, never the token itself.`);
  const token = env[variable];
  if (!token) return problem(`${key}.env names ${variable}, which is not set; set it (${NEW_TOKEN}).`);
  if (!/^[\x21-\x7e]+$/.test(token))
    return problem(`${variable} holds characters that cannot stand in a header; ${NEW_TOKEN}.`);
  if (estimateTokenBits(token) < MIN_TOKEN_BITS)
    return problem(`${variable} is too easy to guess: less than ${MIN_TOKEN_BITS} bits; ${NEW_TOKEN}.`);
  return [];
}

function findRepeated<Field extends string>(
  things: readonly { readonly [Key in Field]?: string }[],
  field: Field,
  list: string,
): ConfigProblem[] {
  return things.flatMap((thing, index) => {
    const value = thing[field];
    const first = things.findIndex((one) => one[field] === value);
    if (value === undefined || first === index) return [];
    const key = `${list}[${index}].${field}`;
    const message = `${key} is ${JSON.stringify(value)}, as ${list}[${first}].${field} is; each needs its own.`;
    return [{ key, message }];
  });
}

const VARIABLE = "LONGHAUL_UPSTREAM";

interface AddressChoice {
  /** Undefined for the upstream that takes all requests. */
  readonly name: string | undefined;
  readonly baseUrl: string;
  readonly label: string;
  readonly from: "flags" | "environment";
}

/** The list of upstreams after applying options and environment variables. */
interface ChosenUpstreams {
  readonly upstreams: readonly unknown[];
  /** The option or variable that set an address, by key. */
  readonly given: ReadonlyMap<string, ValueOrigin>;
  readonly from: "flags" | "environment" | undefined;
  readonly warnings: readonly string[];
}

/** Applies the addresses given by options and variables to a list of upstreams, which is not validated yet. */
function chooseUpstreams(listed: readonly unknown[], flags: ConfigFlags, env: Environment): ChosenUpstreams {
  const choices = [...readEnvironment(env), ...readFlags(flags)];
  const given = new Map<string, ValueOrigin>();
  const warnings: string[] = [];
  let upstreams = [...listed];
  for (const { name, baseUrl, label } of choices) {
    if (name === undefined) upstreams = [{ name: "upstream", baseUrl, apis: API_NAMES }];
    else {
      const index = upstreams.findIndex((one) => isNamed(one, name));
      const own = index === -1 ? buildNamedUpstream(name, env) : (upstreams[index] as object);
      upstreams.splice(index === -1 ? upstreams.length : index, 1, { ...own, baseUrl });
      const [nearest] =
        index === -1 && !findWellKnown(name)
          ? findNearestWords(
              name,
              WELL_KNOWN_UPSTREAMS.map((one) => one.name),
            )
          : [];
      if (nearest !== undefined) {
        warnings.push(`${label} makes an upstream of its own; did you mean ${nearest}?`);
      }
    }
    const at = name === undefined ? 0 : upstreams.findIndex((one) => isNamed(one, name));
    if (name === undefined) given.clear();
    given.set(`upstreams[${at}].baseUrl`, { label });
  }
  return { upstreams, given, from: choices.at(-1)?.from, warnings };
}

function readFlags({ upstream = [] }: ConfigFlags): readonly AddressChoice[] {
  const choices = upstream.map((words): AddressChoice => {
    const [, name, baseUrl = words] = /^([\w.-]+)=(.*)$/s.exec(words) ?? [];
    return { name, baseUrl, label: name === undefined ? "--upstream" : `--upstream ${name}`, from: "flags" };
  });
  return sortCatchAllFirst(choices);
}

function readEnvironment(env: Environment): readonly AddressChoice[] {
  const choices = Object.entries(env).flatMap(([variable, baseUrl]): readonly AddressChoice[] => {
    if (!baseUrl || (variable !== VARIABLE && !variable.startsWith(`${VARIABLE}_`))) return [];
    const name = variable === VARIABLE ? undefined : variable.slice(VARIABLE.length + 1).toLowerCase();
    return [{ name, baseUrl, label: variable, from: "environment" }];
  });
  return sortCatchAllFirst(choices);
}

/** Sorts the upstream that takes all requests first, because it replaces the list. */
function sortCatchAllFirst(choices: readonly AddressChoice[]): readonly AddressChoice[] {
  return choices.toSorted((one, other) => Number(one.name !== undefined) - Number(other.name !== undefined));
}

function buildNamedUpstream(name: string, env: Environment): Partial<UpstreamConfig> {
  const known = findWellKnown(name);
  return known ? configureUpstream(known, env) : { name, apis: OPEN_APIS, prefix: `${name}/` };
}

function findWellKnown(name: string) {
  return WELL_KNOWN_UPSTREAMS.find((one) => normalizeName(one.name) === normalizeName(name));
}

function isNamed(one: unknown, name: string): boolean {
  const own = (one as { readonly name?: unknown } | null)?.name;
  return typeof own === "string" && normalizeName(own) === normalizeName(name);
}

/** A name in the form that an environment variable can contain. */
function normalizeName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "_");
}
