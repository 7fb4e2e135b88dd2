import type { SessionRecord } from "../../../index.ts";
import { EMPTY_LEDGER, type Totals, textOfMessage } from "../../../index.ts";
import { definedFields, objectOf, textOf } from "../../content/fields.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import { taskOrigin, uuidOf } from "../cline/task-session.ts";
import { addUsage } from "../usage-ledger.ts";
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
    tokensIn: usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens,
    tokensOut: usage.outputTokens,
    cacheWrites: usage.cacheWriteTokens,
    cacheReads: usage.cacheReadTokens,
    totalCost: usage.cost,
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
  readonly usage: Totals;
}

/** Collects the first request, the last time and the total usage. */
async function sumOf(session: ExportedSession): Promise<Sum> {
  let task: string | undefined;
  let at = session.record.createdAt;
  let ledger = EMPTY_LEDGER;
  for await (const entry of session.entries("line")) {
    at = entry.at;
    if (entry.kind === "message" && entry.message.role === "user") task ??= textOfMessage(entry.message);
    if (entry.kind === "usage") ledger = addUsage(ledger, entry);
  }
  return { task, at, usage: ledger.session };
}
