import { existsSync } from "node:fs";
import { isLonghaulError } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { GatewayAddress } from "../../server/gateway/index.ts";
import {
  type AgentFile,
  createRefusal,
  digestContent,
  findMissingFolder,
  readAgentFile,
  replaceAgentFile,
} from "./agent-file.ts";
import type { AgentConnector, ConfigFileSpec, ConfigReader, UserPlace } from "./agents/agent-connector.ts";
import { type ConnectionRecord, findConnection, writeConnection } from "./connection-record.ts";
import { applySettings, undoChanges } from "./setting-changes.ts";
import { type ConfigSyntax, ConfigSyntaxError } from "./syntax/config-syntax.ts";

/** The connection of one agent. */
export type ConnectionPlan = { readonly connector: AgentConnector } & (
  | {
      readonly state: "change";
      readonly file: AgentFile;
      readonly text: string;
      readonly record: ConnectionRecord;
      readonly notes: readonly string[];
    }
  | { readonly state: "unchanged"; readonly file: AgentFile; readonly notes: readonly string[] }
  | { readonly state: "manual"; readonly instructions: string }
  | { readonly state: "unsupported"; readonly reason: string }
  | { readonly state: "refused"; readonly path: string; readonly reason: string }
);

/** Facts that every plan needs. */
interface ConnectionSetting {
  readonly gateway: GatewayAddress;
  readonly place: UserPlace;
  /** Folder of the store, which holds the backups. */
  readonly store: string;
  readonly now: number;
}

/** Plans the connection of an agent; reads files and changes nothing. */
export function planConnection(connector: AgentConnector, setting: ConnectionSetting): ConnectionPlan {
  if (connector.unsupported !== undefined)
    return { connector, state: "unsupported", reason: connector.unsupported };
  const { file: spec, instruct } = connector;
  if (!spec) return { connector, state: "manual", instructions: instruct?.(setting.gateway) ?? "" };
  const path = chooseConfigPath(spec, setting.place);
  try {
    return planFile(connector, spec, path, setting);
  } catch (error) {
    if (!isLonghaulError(error, "AGENT_FILE_REFUSED")) throw error;
    return { connector, state: "refused", path, reason: String(error.details.reason) };
  }
}

/** Writes the backup, then the file. */
export function carryOutConnection(plan: ConnectionPlan & { state: "change" }, store: string): void {
  writeConnection(store, plan.record);
  replaceAgentFile(plan.file, plan.text);
}

export function chooseConfigPath(spec: ConfigFileSpec, place: UserPlace): string {
  const paths = spec.listPaths(place);
  return paths.find((path) => existsSync(path)) ?? (paths[0] as string);
}

/** Read access to a text in a syntax. */
export function createConfigReader(syntax: ConfigSyntax, text: string): ConfigReader {
  return {
    findString: (path) => syntax.findString(text, path),
    findRaw: (path) => syntax.findRaw(text, path),
    has: (path) => syntax.findRaw(text, path) !== undefined || syntax.listNames(text, path).length > 0,
    listNames: (path) => syntax.listNames(text, path),
  };
}

/** Runs an edit; a damaged text becomes AGENT_FILE_REFUSED with the line. */
export function editText<T>(path: string, syntax: ConfigSyntax, edit: () => T): T {
  try {
    return edit();
  } catch (error) {
    if (!(error instanceof ConfigSyntaxError)) throw error;
    throw createRefusal(path, `it cannot be edited as ${syntax.name}, ${error.message}`, error);
  }
}

function planFile(
  connector: AgentConnector,
  spec: ConfigFileSpec,
  path: string,
  { gateway, place, store, now }: ConnectionSetting,
): ConnectionPlan {
  const { syntax } = spec;
  const file = readAgentFile(path);
  return editText(path, syntax, (): ConnectionPlan => {
    const earlier = findConnection(store, path, connector.name);
    const base = findBase(file, syntax, earlier);
    const plan = spec.plan(createConfigReader(syntax, base.text), gateway, place);
    if ("instructions" in plan) return { connector, state: "manual", instructions: plan.instructions };
    const { text, changes } = applySettings(syntax, base.text, plan.settings);
    const { notes } = plan;
    if (text === file.text && file.bytes) return { connector, state: "unchanged", file, notes };
    const { bytes, mode } = base;
    const before = bytes && { mode, sha256: digestContent(bytes), content: bytes.toString("base64") };
    const folder = findMissingFolder(file.realPath) ?? earlier?.folder;
    const record: ConnectionRecord = {
      version: 1,
      agent: connector.name,
      path,
      url: gateway.url,
      at: now,
      before: before ?? null,
      ...dropUndefined({ folder }),
      sha256: digestContent(text),
      changes: [...changes],
    };
    return { connector, state: "change", file, text, record, notes };
  });
}

/** The file without an earlier connection, so that a second one does not take the first for the user's own setting. */
function findBase(
  file: AgentFile,
  syntax: ConfigSyntax,
  record: ConnectionRecord | undefined,
): Pick<AgentFile, "bytes" | "text" | "mode"> {
  if (!record || !file.bytes) return file;
  if (digestContent(file.bytes) === record.sha256) {
    const bytes = record.before ? Buffer.from(record.before.content, "base64") : undefined;
    return { bytes, text: bytes?.toString("utf8") ?? "", mode: record.before?.mode ?? file.mode };
  }
  const { text } = undoChanges(syntax, file.text, record.changes);
  return { bytes: Buffer.from(text), text, mode: file.mode };
}
