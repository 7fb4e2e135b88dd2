import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isLonghaulError, LonghaulError } from "../../index.ts";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { readAgentFile, replaceAgentFile } from "../connecting/agent-file.ts";
import { ConfigSyntaxError } from "../connecting/syntax/config-syntax.ts";
import { jsonSyntax } from "../connecting/syntax/json-syntax.ts";
import { getStorePath } from "../open-store.ts";
import { UsageError } from "../usage-error.ts";

/** A change of the configuration. */
interface SettingRequest {
  readonly key: string;
  /** As typed: JSON, or a plain text; undefined removes the setting. */
  readonly value: string | undefined;
  /** Changes the project's file instead of the user's. */
  readonly isProject: boolean;
}

/** A written change. */
export interface WrittenSetting {
  readonly key: string;
  readonly value: unknown;
  readonly path: string;
  readonly isChanged: boolean;
  /** For a project's file: false if it has no effect before "longhaul trust". */
  readonly isTrusted?: boolean;
}

/** Changes one setting of a file; comments, order and indentation stay, and an invalid result is never written. */
export async function changeSetting(
  context: CliContext,
  options: CommonValues & { readonly config?: string },
  { key, value, isProject }: SettingRequest,
): Promise<WrittenSetting> {
  const config = await import("../../gateway/config/index.ts");
  const names = config.parseConfigKey(key);
  const store = getStorePath(context, options);
  const { cwd, home, env } = context;
  const places = { cwd, home, env, store, ...(options.config !== undefined && { path: options.config }) };
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
    if (isChanged && wasTrusted) config.trustContent(trustFolder, path, readFileSync(path), Date.now());
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
