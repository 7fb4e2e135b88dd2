import type { SessionRecord } from "../../../index.ts";
import { textOfMessage, type Usage } from "../../../index.ts";
import { definedFields, objectOf, textOf } from "../../content/fields.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import { taskOrigin, uuidOf } from "../cline/task-session.ts";
import type { ExportedSession } from "../writer.ts";

/** Returns the Roo task id of a session. */
export function rooTaskId(record: SessionRecord): string {
  return taskOrigin(record, "roo")?.id ?? uuidOf(record.id);
}

/** Builds the session's entry in Roo's task list. */
export async function historyItem(session: ExportedSession): Promise<JsonObject> {
  const { record } = session;
  const origin = taskOrigin(record, "roo");
  const id = rooTaskId(record);
  if (origin && Object.keys(origin.history).length > 0) return { id, ...origin.history };
  const { task, at, usage } = await sumOf(session);
  return {
    id,
    ...definedFields({ parentTaskId: record.relation === "child" ? parentId(record.parent) : undefined }),
    number: 1,
    ts: at,
    task: task ?? record.title ?? "",
    tokensIn: (usage.inputTokens ?? 0) + (usage.cacheReadTokens ?? 0) + (usage.cacheWriteTokens ?? 0),
    tokensOut: usage.outputTokens ?? 0,
    cacheWrites: usage.cacheWriteTokens ?? 0,
    cacheReads: usage.cacheReadTokens ?? 0,
    totalCost: usage.cost ?? 0,
    ...definedFields({ workspace: textOf(record.meta?.cwd) ?? textOf(objectOf(record.meta?.source)?.cwd) }),
    mode: "code",
  };
}

function parentId(parent: string | undefined): string | undefined {
  if (parent === undefined) return undefined;
  return parent.startsWith("roo/") ? parent.slice("roo/".length) : uuidOf(parent);
}

interface Sum {
  readonly task: string | undefined;
  readonly at: number;
  readonly usage: Usage;
}

/** Collects the first request, the last time and the total usage. */
async function sumOf(session: ExportedSession): Promise<Sum> {
  let task: string | undefined;
  let at = session.record.createdAt;
  const sum = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, cost: 0 };
  for await (const entry of session.entries("line")) {
    at = entry.at;
    if (entry.kind === "message" && entry.message.role === "user") task ??= textOfMessage(entry.message);
    if (entry.kind === "usage")
      for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += entry.usage[key] ?? 0;
  }
  return { task, at, usage: sum };
}
