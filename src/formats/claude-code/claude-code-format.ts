import { join } from "node:path";
import { toNumber, toObject } from "../../wire/fields.ts";
import { readAgentSettings } from "../content/agent-settings.ts";
import type { Format, ImportSource } from "../port/format.ts";
import type { Item } from "../port/item.ts";
import { decodeLines } from "../reading/decode-lines.ts";
import type { Input } from "../reading/input.ts";
import { createClaudeCodeDecoder, type DecodedFile } from "./claude-code-decoder.ts";
import { detectClaudeCodeSources } from "./claude-code-sources.ts";
import type { Fields } from "./line-records.ts";
import { OWN_FIELD } from "./own-fields.ts";
import { ToolResultFiles } from "./tool-result-files.ts";

/** Days after which Claude Code deletes a session unless its settings name others. */
const DEFAULT_DAYS = 30;

/** Sessions of Claude Code: one JSONL file each, with separate files for sub-agents. */
export const claudeCodeFormat: Format = {
  name: "claude-code",
  title: "Claude Code",
  processes: ["claude"],
  homes: ({ home, env }) =>
    env.CLAUDE_CONFIG_DIR
      ? [join(env.CLAUDE_CONFIG_DIR, "projects")]
      : [join(home, ".claude", "projects"), join(home, ".config", "claude", "projects")],
  async retention({ home, env }) {
    const folder = env.CLAUDE_CONFIG_DIR || join(home, ".claude");
    const settings = await readAgentSettings([
      join(folder, "settings.json"),
      join(folder, "settings.local.json"),
    ]);
    const days = Math.max(0, toNumber(settings.cleanupPeriodDays) ?? DEFAULT_DAYS);
    return { days, rule: `deleted after ${days} days without a change (cleanupPeriodDays in settings.json)` };
  },
  detect: detectClaudeCodeSources,
  read: readSource,
};

function readSource(source: ImportSource, input: Input): AsyncGenerator<Item> {
  // Fast path: most sessions are a single file.
  if (source.paths.length === 1 && source.parent === undefined)
    return decodeLines(input, source.path, (state) =>
      createClaudeCodeDecoder({ isLive: input.isLive }, state),
    );
  return readFiles(source, input);
}

async function* readFiles(source: ImportSource, input: Input): AsyncGenerator<Item> {
  const file = yield* describeDecodedFile(source, input);
  const results = await ToolResultFiles.of(source, input);
  for await (const item of decodeLines(input, source.path, (state) => createClaudeCodeDecoder(file, state))) {
    yield item;
    if (results) yield* results.readFilesOf(item);
  }
  // After a resume, messages before the checkpoint are not read again, so unmatched result files are not orphans.
  if (results && input.resume === undefined) yield* results.readUnclaimed();
}

async function* describeDecodedFile(source: ImportSource, input: Input): AsyncGenerator<Item, DecodedFile> {
  const { isLive } = input;
  if (source.parent === undefined) return { isLive };
  const agentId = source.id.slice(source.parent.length + "/agent-".length);
  const path = source.paths[1];
  const read = path === undefined ? undefined : await input.json(path);
  if (read && "type" in read) yield read;
  const { [OWN_FIELD]: own, ...facts } = (read && "value" in read && toObject(read.value)) || {};
  const callId = toObject(own)?.callId;
  if (typeof callId === "string") yield { type: "session", meta: { callId } };
  return { agentId, isLive, ...(Object.keys(facts).length > 0 && { facts: { agent: facts as Fields } }) };
}
