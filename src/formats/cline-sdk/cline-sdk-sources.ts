import { parseJson } from "../../base/parse-json.ts";
import { dropUndefined, toObject, toText } from "../../wire/fields.ts";
import type { ImportSource } from "../port/format.ts";
import type { FileFacts, Folder } from "../reading/folder.ts";
import type { JsonObject } from "../reading/json-lines.ts";

const SUFFIX = ".messages.json";

/** Finds the SDK's conversations in a folder; a session and its sub-agents share one. */
export async function detectClineSdkSources(folder: Folder): Promise<readonly ImportSource[]> {
  const sources: ImportSource[] = [];
  for (const file of folder.files) {
    const facts = file.name.endsWith(SUFFIX) ? parseFacts(await folder.head(file)) : undefined;
    if (facts) sources.push(buildSource(folder, file, facts));
  }
  // Sessions come before their sub-agents.
  return sources.sort((a, b) => Number(a.parent !== undefined) - Number(b.parent !== undefined));
}

/** Parses the fields before the messages; undefined if the file is not the SDK's. */
function parseFacts(head: string): JsonObject | undefined {
  const end = head.search(/"messages"\s*:/);
  if (end < 0 || !/^\s*\{/.test(head)) return undefined;
  try {
    const facts = toObject(parseJson(`${head.slice(0, end).replace(/,\s*$/, "")}}`));
    const isOurs = facts && (toText(facts.sessionId) ?? toText(facts.agent)) !== undefined;
    return isOurs && facts.version !== undefined ? facts : undefined;
  } catch {
    return undefined;
  }
}

function buildSource(folder: Folder, file: FileFacts, facts: JsonObject): ImportSource {
  const stem = file.name.slice(0, -SUFFIX.length);
  const beside = folder.files.filter(
    ({ name }) => name === `${stem}.json` || name === `${stem}.compaction.json`,
  );
  const files = [file, ...beside];
  const { id, parent } = deriveIdentity(stem, facts);
  return {
    format: "cline-sdk",
    id,
    path: file.path,
    paths: files.map(({ path }) => path),
    sizeBytes: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    modifiedAt: files.reduce((latest, { modifiedAt }) => Math.max(latest, modifiedAt), 0),
    ...dropUndefined({ parent }),
  };
}

/** Derives id and parent: a sub-agent's file contains the session it works for and is named after the agent. */
function deriveIdentity(stem: string, facts: JsonObject): { readonly id: string; readonly parent?: string } {
  const origin = toObject(facts.origin);
  const root = toText(facts.sessionId);
  const thread = toText(origin?.parentThreadId);
  const isLead = (toText(facts.agent) ?? "lead") === "lead" && thread === undefined && !origin?.subagent;
  if (isLead) return { id: root ?? stem };
  const own = toText(origin?.sessionId);
  const parent = thread ?? root;
  if (own !== undefined && own !== parent && own !== root) return { id: own, ...dropUndefined({ parent }) };
  const isNamed = root === undefined || stem.startsWith(`${root}__`);
  const id = isNamed ? stem : `${root}__${facts.agent === "teammate" ? "teamtask__" : ""}${stem}`;
  return id === parent ? { id } : { id, ...dropUndefined({ parent }) };
}
