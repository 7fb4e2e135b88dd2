import { existsSync } from "node:fs";
import { join } from "node:path";
import { isLonghaulError, LonghaulError } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { readOutsideFileSync } from "../../model/base/outside-file.ts";
import { type CommandGroup, type CommonValues, defineCommand } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { readAgentFile, replaceAgentFile } from "../connecting/agent-file.ts";
import { ConfigSyntaxError } from "../connecting/syntax/config-syntax.ts";
import { jsonSyntax } from "../connecting/syntax/json-syntax.ts";
import { renderRows } from "../context/labeled-row.ts";
import { EXIT } from "../exit-code.ts";
import { getStorePath } from "../open-store.ts";
import { choosePaint } from "../terminal/choose-paint.ts";
import { escapeLine } from "../terminal/escape.ts";
import { nearestWords } from "../terminal/nearest-words.ts";
import { printJson, printLines } from "../terminal/print-lines.ts";
import { printTo } from "../terminal/printer.ts";
import { UsageError } from "../usage-error.ts";

const FILE_OPTION = {
  config: { type: "string", value: "FILE", help: "your configuration file (default: that of the store)" },
} as const;

const PROJECT_OPTION = {
  project: {
    type: "boolean",
    help: "change the longhaul.json of the working folder: policy, threshold or dryRun",
  },
} as const;

const getCommand = defineCommand({
  name: "config get",
  summary: "print a setting in force, or all, with the place that decided it",
  usage: ["config get [key]"],
  about:
    "Variables take precedence over the trusted file of the working folder, that over your own file, and that over the defaults.",
  options: FILE_OPTION,
  maxOperands: 1,
  examples: [
    "longhaul config get",
    "longhaul config get threshold",
    "longhaul config get limits.maxThreads --json",
  ],
  async run(context, { operands, options }) {
    const [key] = operands;
    const settings = await readSettings(context, options, key);
    if (!settings) throw await createUnknownKeyError(context, options, key ?? "");
    if (options.json) {
      await printJson(context, key === undefined ? { settings } : settings[0]);
      return EXIT.fine;
    }
    if (key !== undefined) {
      const { value } = settings[0] as { readonly value: unknown };
      await printLines(context, [escapeLine(typeof value === "string" ? value : JSON.stringify(value))]);
      return EXIT.fine;
    }
    const rows = settings.map(
      ({ key: name, value, source }) => [name, `${JSON.stringify(value)}  (${source})`] as const,
    );
    await printLines(context, renderRows(rows, context.columns.stdout, choosePaint(context, options)));
    return EXIT.fine;
  },
});

const setCommand = defineCommand({
  name: "config set",
  summary: "change a setting in your configuration file",
  usage: ["config set <key> <value> [--project]"],
  about:
    "The value is JSON, or a plain text. The whole configuration is checked before the file is written, in one step; comments, order and indentation stay. A running gateway follows the file. Secrets never go there: name the variable that holds them.",
  options: { ...FILE_OPTION, ...PROJECT_OPTION },
  maxOperands: 2,
  examples: [
    "longhaul config set threshold 60",
    "longhaul config set recall.offer edit",
    "longhaul config set 'models[\"box/*\"].window' 65536",
    "longhaul config set policy none --project",
  ],
  async run(context, { operands, options }) {
    const [key, value] = operands;
    if (key === undefined || value === undefined) throw new UsageError("name a key and a value");
    const request = { key, value, isProject: options.project === true };
    return report(context, options, await changeSetting(context, options, request));
  },
});

const unsetCommand = defineCommand({
  name: "config unset",
  summary: "take a setting out of your configuration file; its default applies again",
  usage: ["config unset <key> [--project]"],
  options: { ...FILE_OPTION, ...PROJECT_OPTION },
  maxOperands: 1,
  examples: ["longhaul config unset threshold"],
  async run(context, { operands, options }) {
    const [key] = operands;
    if (key === undefined) throw new UsageError("name a key");
    const request = { key, value: undefined, isProject: options.project === true };
    return report(context, options, await changeSetting(context, options, request));
  },
});

const pathCommand = defineCommand({
  name: "config path",
  summary: "print the files that may hold settings, in order of precedence",
  usage: ["config path"],
  options: FILE_OPTION,
  maxOperands: 0,
  examples: ["longhaul config path", "longhaul config path --json"],
  async run(context, { options }) {
    const files = await listSettingsFiles(context, options);
    const { SETTING_VARIABLES } = await import("../../server/gateway/config/index.ts");
    const variables = SETTING_VARIABLES.filter((name) => context.env[name]);
    if (options.json) await printJson(context, { variables, files });
    else {
      const lines = files.map(({ level, path, exists, isInEffect }) => {
        const state = !exists
          ? "does not exist yet"
          : isInEffect
            ? "in effect"
            : 'not trusted: see "longhaul trust"';
        return escapeLine(`${path}  (${level}, ${state})`);
      });
      const set = variables.length === 0 ? [] : [`${variables.join(", ")}  (variables, in effect)`];
      await printLines(
        context,
        options.quiet ? files.map(({ path }) => escapeLine(path)) : [...set, ...lines],
      );
    }
    return EXIT.fine;
  },
});

const schemaCommand = defineCommand({
  name: "config schema",
  summary: "print the JSON schema of the configuration, for editors",
  usage: ["config schema"],
  options: {},
  maxOperands: 0,
  examples: ["longhaul config schema > longhaul.schema.json"],
  async run(context) {
    const { getConfigSchemaJson } = await import("../../server/gateway/config/index.ts");
    await printTo(context.stdout, `${JSON.stringify(getConfigSchemaJson(), undefined, 2)}\n`);
    return EXIT.fine;
  },
});

/** Commands on the configuration file of the command line, the gateway and the library. */
export const configCommands: CommandGroup = {
  name: "config",
  summary: "read and change settings; print their files and schema",
  commands: {
    get: async () => getCommand,
    set: async () => setCommand,
    unset: async () => unsetCommand,
    path: async () => pathCommand,
    schema: async () => schemaCommand,
  },
  examples: ["longhaul config get", "longhaul config set threshold 60", "longhaul config path"],
};

async function report(
  context: CliContext,
  options: { readonly json?: boolean; readonly quiet?: boolean },
  written: WrittenSetting,
): Promise<number> {
  const { key, value, path, isChanged, isTrusted } = written;
  if (options.json) await printJson(context, written);
  else if (!options.quiet) {
    const words = value === null ? `${key} is not set` : `${key} is ${JSON.stringify(value)}`;
    const hint = isTrusted === false ? ['It has no effect before "longhaul trust".'] : [];
    await printLines(context, [
      escapeLine(`${isChanged ? "Wrote" : "Unchanged:"} ${path}: ${words}.`),
      ...hint,
    ]);
  }
  return EXIT.fine;
}

async function createUnknownKeyError(
  context: CliContext,
  options: { readonly config?: string },
  key: string,
): Promise<UsageError> {
  const all = (await readSettings(context, options, undefined)) ?? [];
  const names = all.flatMap(({ key: name, value }) => [
    name,
    ...(typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.keys(value).map((inner) => `${name}.${inner}`)
      : []),
  ]);
  if (names.includes(key)) return new UsageError(`${key} is not set`);
  const [nearest] = nearestWords(key, names);
  const hint = nearest === undefined ? '; "longhaul config get" lists all' : `; did you mean ${nearest}?`;
  return new UsageError(`there is no setting ${JSON.stringify(key)}, or it has no value${hint}`);
}

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

/** A project's settings come from its repository, which may hold anything in their place. */
const readProjectFile = (path: string) =>
  readOutsideFileSync(path, { maxBytes: 1_024 * 1_024, allowsLink: true });

/** Lists the files with settings, in order of precedence. */
async function listSettingsFiles(
  context: CliContext,
  options: CommonValues & { readonly config?: string },
): Promise<readonly SettingsFile[]> {
  const { chooseUserFile, findUserFolder, isTrusted, listProjectFiles } = await import(
    "../../server/gateway/config/index.ts"
  );
  const places = getPlaces(context, options);
  const folder = findUserFolder(places);
  const projects = listProjectFiles(places).map((path, index): SettingsFile => {
    const isKnown = folder !== undefined && isTrusted(folder, path, readProjectFile(path));
    return { level: "project", path, exists: true, isInEffect: index === 0 && isKnown };
  });
  const user = chooseUserFile(places);
  if (user === undefined) return projects;
  const exists = existsSync(user);
  return [...projects, { level: "user", path: user, exists, isInEffect: exists }];
}

/** Reads the settings in force, at a key or all of them, with the source of each. */
async function readSettings(
  context: CliContext,
  options: CommonValues & { readonly config?: string },
  key: string | undefined,
): Promise<readonly EffectiveSetting[] | undefined> {
  const { getConfigValue, loadConfig, parseConfigKey } = await import("../../server/gateway/config/index.ts");
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
  return { cwd, home, env, store, ...dropUndefined({ path: options.config }) };
}

/** A change of the configuration. */
interface SettingRequest {
  readonly key: string;
  /** As typed: JSON, or a plain text; undefined removes the setting. */
  readonly value: string | undefined;
  /** Changes the project's file instead of the user's. */
  readonly isProject: boolean;
}

/** A written change. */
interface WrittenSetting {
  readonly key: string;
  readonly value: unknown;
  readonly path: string;
  readonly isChanged: boolean;
  /** For a project's file: false if it has no effect before "longhaul trust". */
  readonly isTrusted?: boolean;
}

/** Changes one setting of a file; comments, order and indentation stay, and an invalid result is never written. */
async function changeSetting(
  context: CliContext,
  options: CommonValues & { readonly config?: string },
  { key, value, isProject }: SettingRequest,
): Promise<WrittenSetting> {
  const config = await import("../../server/gateway/config/index.ts");
  const names = config.parseConfigKey(key);
  const store = getStorePath(context, options);
  const { cwd, home, env } = context;
  const places = { cwd, home, env, store, ...dropUndefined({ path: options.config }) };
  const path = isProject ? findProjectFile(context) : config.chooseUserFile(places);
  if (path === undefined)
    throw new UsageError("there is no folder for a configuration; name a file with --config");
  if (isProject && !config.isProjectKey(names[0]))
    throw new UsageError(`a project may not set ${names[0]}; leave out --project to change your own file`);
  const file = readAgentFile(path);
  const trustFolder = config.findUserFolder(places) ?? store;
  const wasTrusted =
    file.bytes === undefined || (existsSync(path) && config.isTrusted(trustFolder, path, file.bytes));
  const candidates = value === undefined ? [undefined] : listReadings(value);
  let failure: unknown;
  for (const candidate of candidates) {
    const text = editText(path, () =>
      candidate === undefined
        ? jsonSyntax.remove(file.text || "{}\n", names)
        : jsonSyntax.setRaw(file.text, names, candidate),
    );
    try {
      config.checkFileContent(config.parseConfig(Buffer.from(text)), places, path);
    } catch (error) {
      if (!isLonghaulError(error, "CONFIG_INVALID")) throw error;
      failure ??= error;
      continue;
    }
    const isChanged = text !== file.text && !(candidate === undefined && file.bytes === undefined);
    if (isChanged) replaceAgentFile(file, text);
    const written = { key, value: candidate === undefined ? null : JSON.parse(candidate), path, isChanged };
    if (!isProject) return written;
    if (isChanged && wasTrusted) config.trustContent(trustFolder, path, readProjectFile(path), Date.now());
    return { ...written, isTrusted: wasTrusted };
  }
  throw failure;
}

/** The values that a typed text may mean: its JSON value, then the text itself. */
function listReadings(value: string): readonly string[] {
  const asText = JSON.stringify(value);
  try {
    return [JSON.stringify(JSON.parse(value)), asText];
  } catch {
    return [asText];
  }
}

function findProjectFile({ cwd }: CliContext): string {
  const names = ["longhaul.json", "longhaul.gateway.json"].map((name) => join(cwd, name));
  return names.find((name) => existsSync(name)) ?? (names[0] as string);
}

function editText(path: string, edit: () => string): string {
  try {
    return edit();
  } catch (error) {
    if (!(error instanceof ConfigSyntaxError)) throw error;
    throw new LonghaulError("CONFIG_INVALID", `${path} was not changed: ${error.message}.`, {
      cause: error,
      details: { path, problems: 1, keys: "the file" },
    });
  }
}
