import { definedFields, objectOf, textOf } from "../content/fields.ts";
import type { Source } from "../format.ts";
import { parseCutJson } from "../reading/cut-json.ts";
import type { FileFacts, Folder } from "../reading/folder.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { isOldHeader, LINE_TYPES } from "./rollout-line.ts";

const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const NAMED = new RegExp(`(${UUID})(?:_(${UUID}))?\\.jsonl$`, "i");

/** Finds the rollouts in a folder. */
export async function detectRollouts(folder: Folder): Promise<readonly Source[]> {
  const sources: Source[] = [];
  const byName = Map.groupBy(
    folder.files.filter(({ name }) => name.endsWith(".jsonl")),
    ({ name }) => name,
  );
  for (const [name, files] of byName) {
    // Both files exist while Codex compresses a rollout.
    const file = files.find(({ path }) => path.endsWith(".jsonl")) ?? files[0];
    if (!file) continue;
    const first = firstRecord(await folder.head(file));
    const isRollout = first ? isRolloutLine(first) : name.startsWith("rollout-") && NAMED.test(name);
    if (isRollout) sources.push(sourceOf(file, files, first ?? {}));
  }
  return sources;
}

function isRolloutLine(record: JsonObject): boolean {
  const isTagged =
    LINE_TYPES.includes(textOf(record.type) ?? "") &&
    objectOf(record.payload) !== undefined &&
    textOf(record.timestamp) !== undefined;
  return isTagged || isOldHeader(record);
}

function sourceOf(file: FileFacts, files: readonly FileFacts[], first: JsonObject): Source {
  const facts =
    first.type === "session_meta" ? (objectOf(first.payload) ?? {}) : isOldHeader(first) ? first : {};
  const [, namedThread, rollout] = NAMED.exec(file.name) ?? [];
  const thread = textOf(facts.id) ?? namedThread ?? file.name.replace(/\.jsonl$/, "");
  const parent = parentOf(facts);
  return {
    format: "codex",
    // A reverted thread continues in another file, named after the thread and itself.
    id: rollout === undefined || rollout === thread ? thread : `${thread}_${rollout}`,
    path: file.path,
    paths: [file.path, ...files.flatMap(({ path }) => (path === file.path ? [] : [path]))],
    sizeBytes: file.sizeBytes,
    modifiedAt: file.modifiedAt,
    ...definedFields({ parent: parent === thread ? undefined : parent, cwd: textOf(facts.cwd) }),
  };
}

function parentOf(facts: JsonObject): string | undefined {
  const spawn = objectOf(objectOf(objectOf(facts.source)?.subagent)?.thread_spawn);
  return textOf(facts.parent_thread_id) ?? textOf(spawn?.parent_thread_id) ?? textOf(facts.forked_from_id);
}

/** Parses the first line, which may extend beyond the head of the file. */
function firstRecord(head: string): JsonObject | undefined {
  const [line = ""] = head.trimStart().split("\n", 1);
  return objectOf(parseCutJson(line));
}
