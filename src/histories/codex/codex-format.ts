import { join } from "node:path";
import { toObject, toText } from "../../wire/fields.ts";
import { buildFileSource, type Format, type ImportSource } from "../port/format.ts";
import { decodeLines } from "../reading/decode-lines.ts";
import type { FileFacts, Folder } from "../reading/folder.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { parseCutJson } from "../reading/parse-cut-json.ts";
import { RolloutDecoder } from "./rollout-decoder.ts";
import { isOldHeader, LINE_TYPES } from "./rollout-line.ts";

const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const FILE_NAME = new RegExp(`(${UUID})(?:_(${UUID}))?\\.jsonl$`, "i");

/** Rollouts of OpenAI Codex: one JSONL file per thread, plain or compressed. */
export const codexFormat: Format = {
  name: "codex",
  title: "Codex",
  processes: ["codex"],
  homes({ home, env }) {
    const root = toText(env.CODEX_HOME) ?? join(home, ".codex");
    return [join(root, "sessions"), join(root, "archived_sessions")];
  },
  detect: detectRollouts,
  read({ path }, input) {
    return decodeLines(input, path, (state) => new RolloutDecoder(path, state));
  },
};

/** Finds the rollouts in a folder. */
async function detectRollouts(folder: Folder): Promise<readonly ImportSource[]> {
  const sources: ImportSource[] = [];
  const byName = Map.groupBy(
    folder.files.filter(({ name }) => name.endsWith(".jsonl")),
    ({ name }) => name,
  );
  for (const [name, files] of byName) {
    // Both files exist while Codex compresses a rollout.
    const file = files.find(({ path }) => path.endsWith(".jsonl")) ?? files[0];
    if (!file) continue;
    const first = parseFirstRecord(await folder.head(file));
    const isRollout = first ? isRolloutLine(first) : name.startsWith("rollout-") && FILE_NAME.test(name);
    if (isRollout) sources.push(buildSource(file, files, first ?? {}));
  }
  return sources;
}

function isRolloutLine(record: JsonObject): boolean {
  const isTagged =
    LINE_TYPES.includes(toText(record.type) ?? "") &&
    toObject(record.payload) !== undefined &&
    toText(record.timestamp) !== undefined;
  return isTagged || isOldHeader(record);
}

function buildSource(file: FileFacts, files: readonly FileFacts[], first: JsonObject): ImportSource {
  const facts =
    first.type === "session_meta" ? (toObject(first.payload) ?? {}) : isOldHeader(first) ? first : {};
  const [, namedThread, rollout] = FILE_NAME.exec(file.name) ?? [];
  const thread = toText(facts.id) ?? namedThread ?? file.name.replace(/\.jsonl$/, "");
  const parent = findParent(facts);
  // A reverted thread continues in another file, named after the thread and itself.
  const id = rollout === undefined || rollout === thread ? thread : `${thread}_${rollout}`;
  const beside = files.flatMap(({ path }) => (path === file.path ? [] : [path]));
  const above = parent === thread ? undefined : parent;
  return buildFileSource("codex", file, { id, parent: above, cwd: toText(facts.cwd) }, beside);
}

function findParent(facts: JsonObject): string | undefined {
  const spawn = toObject(toObject(toObject(facts.source)?.subagent)?.thread_spawn);
  return toText(facts.parent_thread_id) ?? toText(spawn?.parent_thread_id) ?? toText(facts.forked_from_id);
}

/** Parses the first line, which may extend beyond the head of the file. */
function parseFirstRecord(head: string): JsonObject | undefined {
  const [line = ""] = head.trimStart().split("\n", 1);
  return toObject(parseCutJson(line));
}
