import { type SessionRecord, textOfMessage } from "../../../index.ts";
import { EMPTY_LEDGER, type Totals } from "../../../window-entry.ts";
import { dropUndefined, toObject, toText } from "../../../wire/fields.ts";
import { deriveTaskUuid, findTaskOrigin } from "../../cline/writing/task-file-entries.ts";
import type { ExportedSession } from "../../port/writer.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import { addUsage } from "../../writing/usage-ledger.ts";

/** Returns the Roo task id of a session. */
export function getRooTaskId(record: SessionRecord): string {
  return findTaskOrigin(record, "roo")?.id ?? deriveTaskUuid(record.id);
}

/** Builds the session's entry in Roo's task list. */
export async function buildHistoryItem(session: ExportedSession): Promise<JsonObject> {
  const { record } = session;
  const origin = findTaskOrigin(record, "roo");
  const id = getRooTaskId(record);
  if (origin && Object.keys(origin.history).length > 0) return { id, ...origin.history };
  const { task, at, usage } = await collectTotals(session);
  return {
    id,
    ...dropUndefined({
      parentTaskId: record.relation === "child" ? getParentTaskId(record.parent) : undefined,
    }),
    number: 1,
    ts: at,
    task: task ?? record.title ?? "",
    tokensIn: usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens,
    tokensOut: usage.outputTokens,
    cacheWrites: usage.cacheWriteTokens,
    cacheReads: usage.cacheReadTokens,
    totalCost: usage.cost,
    ...dropUndefined({ workspace: toText(record.meta?.cwd) ?? toText(toObject(record.meta?.source)?.cwd) }),
    mode: "code",
  };
}

function getParentTaskId(parent: string | undefined): string | undefined {
  if (parent === undefined) return undefined;
  return parent.startsWith("roo/") ? parent.slice("roo/".length) : deriveTaskUuid(parent);
}

interface TaskTotals {
  readonly task: string | undefined;
  readonly at: number;
  readonly usage: Totals;
}

/** Collects the first request, the last time and the total usage. */
async function collectTotals(session: ExportedSession): Promise<TaskTotals> {
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
