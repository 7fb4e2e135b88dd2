import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { isLonghaulError } from "../../kernel/index.ts";
import {
  type AgentFile,
  digestContent,
  readAgentFile,
  removeAgentFile,
  removeEmptyFolders,
  replaceAgentFile,
} from "./agent-file.ts";
import type { AgentConnector, ConfigFileSpec, UserPlace } from "./agents/agent-connector.ts";
import { type ConnectionRecord, listConnections, removeConnection } from "./connection-record.ts";
import { chooseConfigPath, createConfigReader, editText } from "./plan-connection.ts";
import { undoChanges } from "./setting-changes.ts";

/** The change of one file. */
type FilePlan =
  | {
      /** "restore" returns to the bytes before, "remove" takes out only our settings. */
      readonly state: "restore" | "remove";
      readonly file: AgentFile;
      /** The new content; undefined if the file is to be removed because longhaul made it. */
      readonly content: Buffer | undefined;
      readonly mode: number;
      readonly notes: readonly string[];
    }
  | { readonly state: "absent"; readonly notes: readonly string[] }
  | { readonly state: "refused"; readonly reason: string };

/** The disconnection of one file. */
export type DisconnectionPlan = FilePlan & {
  readonly connector: AgentConnector;
  readonly path: string;
  /** Records to remove afterwards, with their stores. */
  readonly records: readonly StoredRecord[];
};

interface StoredRecord {
  readonly store: string;
  readonly record: ConnectionRecord;
}

/** Facts that every plan needs. */
interface DisconnectionSetting {
  readonly place: UserPlace;
  /** Folders that may hold backups. */
  readonly stores: readonly string[];
  /** Addresses that count as the gateway's where no backup is left. */
  readonly urls: readonly string[];
}

/** Plans the disconnection of an agent: one plan for each connected file. */
export function planDisconnection(
  connector: AgentConnector,
  setting: DisconnectionSetting,
): readonly DisconnectionPlan[] {
  const { file: spec } = connector;
  if (!spec) return [];
  const stored = [...new Set(setting.stores)].flatMap((store) =>
    listConnections(store)
      .filter(({ agent }) => agent === connector.name)
      .map((record) => ({ store, record })),
  );
  const usual = chooseConfigPath(spec, setting.place);
  const isUsual = stored.length === 0 || existsSync(usual);
  const paths = new Set([...stored.map(({ record }) => record.path), ...(isUsual ? [usual] : [])]);
  return [...paths].map((path) => {
    const records = stored.filter(({ record }) => record.path === path);
    try {
      return { connector, path, records, ...planFile(spec, path, records, setting) };
    } catch (error) {
      if (!isLonghaulError(error, "AGENT_FILE_REFUSED")) throw error;
      return { connector, path, records, state: "refused", reason: String(error.details.reason) };
    }
  });
}

/** Restores the file, then removes its backups. */
export function carryOutDisconnection(plan: DisconnectionPlan): void {
  if (plan.state === "refused") return;
  if (plan.state !== "absent") {
    if (plan.content === undefined) removeAgentFile(plan.file);
    else replaceAgentFile({ ...plan.file, mode: plan.mode }, plan.content);
  }
  for (const { store, record } of plan.records) {
    removeConnection(store, record);
    if (record.folder !== undefined) removeEmptyFolders(dirname(record.path), record.folder);
  }
}

function planFile(
  spec: ConfigFileSpec,
  path: string,
  records: readonly StoredRecord[],
  setting: DisconnectionSetting,
): FilePlan {
  const { syntax } = spec;
  const isGone = !existsSync(path);
  if (isGone) return { state: "absent", notes: records.length > 0 ? ["The file is gone."] : [] };
  const file = readAgentFile(path);
  const digest = digestContent(file.bytes ?? "");
  const written = records.find(({ record }) => record.sha256 === digest)?.record;
  if (written) {
    const content = written.before ? Buffer.from(written.before.content, "base64") : undefined;
    return { state: "restore", file, content, mode: written.before?.mode ?? file.mode, notes: [] };
  }
  const isUntouched = records.some(({ record }) => record.before?.sha256 === digest);
  if (isUntouched) return { state: "absent", notes: ["The file is as it was before the connection."] };
  return editText(path, syntax, (): FilePlan => {
    const record = records.at(-1)?.record;
    const { text, kept } = record
      ? undoChanges(syntax, file.text, record.changes)
      : { text: removeSettings(spec, file, setting), kept: [] };
    const keptNotes = kept.map((change) => `${change.path.join(".")} has another value now and stays.`);
    if (text === file.text) return { state: "absent", notes: keptNotes };
    const why = record
      ? "The file has changed since it was connected: only longhaul's settings are removed."
      : "There is no backup: only settings with the gateway's address are removed.";
    return { state: "remove", file, content: Buffer.from(text), mode: file.mode, notes: [why, ...keptNotes] };
  });
}

/** Removes settings with the values that a connection would write. */
function removeSettings(
  spec: ConfigFileSpec,
  { text }: AgentFile,
  { urls, place }: DisconnectionSetting,
): string {
  const { syntax } = spec;
  let result = text;
  for (const url of urls)
    for (const needsToken of [true, false]) {
      const plan = spec.plan(
        createConfigReader(syntax, result),
        { url, needsToken, isAnthropic: true },
        place,
      );
      if ("instructions" in plan || !plan.settings.some(isAddress(syntax, result, url))) continue;
      const changes = plan.settings.map(({ path, value }) => ({
        path: [...path],
        before: null,
        after:
          syntax.findString(result, path) === value
            ? (syntax.findRaw(result, path) ?? "")
            : syntax.encode(value),
        existingNames: 0,
      }));
      result = undoChanges(syntax, result, changes).text;
    }
  return result;
}

/** Selects settings whose current value is an address of the gateway. */
function isAddress(syntax: ConfigFileSpec["syntax"], text: string, url: string) {
  return ({ path }: { readonly path: readonly string[] }) =>
    syntax.findString(text, path)?.startsWith(url) === true;
}
