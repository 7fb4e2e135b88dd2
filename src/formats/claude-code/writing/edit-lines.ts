import type { Entry, Json, Message, Part } from "../../../index.ts";
import { textOfMessage } from "../../../index.ts";
import type { OverlayBody } from "../../../log-entry.ts";
import type { Edit } from "../../../window-entry.ts";
import type { ExportedSession } from "../../port/writer.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import { deriveUuid } from "../../writing/derive-uuid.ts";
import { OWN_FIELD, type OwnFields } from "../own-fields.ts";
import type { DraftLine } from "./message-lines.ts";
import type { WrittenEntries } from "./written-entries.ts";

type OverlayEntry = Entry<OverlayBody>;

/** Builds the boundary and summary lines of a compaction that was not Claude Code's. */
export async function buildCompactionLines(
  entry: OverlayEntry,
  edit: Extract<Edit, { type: "summarize" }>,
  session: ExportedSession,
  written: WrittenEntries,
): Promise<readonly DraftLine[]> {
  const summary = await readSummary(edit, session, written);
  const last = Math.max(
    0,
    ...edit.ranges.filter((range) => range.session === entry.session).map(({ to }) => to),
  );
  const head = written.findFirstAfter(last);
  if (!summary || written.tip === null) return [];
  const [uuid, summaryUuid] = [deriveUuid(`${entry.id}.boundary`), deriveUuid(`${entry.id}.summary`)];
  const at = entry.madeAt ?? entry.at;
  const kept = head && { headUuid: head, anchorUuid: summaryUuid, tailUuid: written.tip };
  const compactMetadata = {
    trigger: "auto",
    preTokens: entry.tokensBefore ?? 0,
    ...(kept && { preservedSegment: kept }),
  };
  const boundary = {
    type: "system",
    subtype: "compact_boundary",
    content: "Conversation compacted",
    level: "info",
    isMeta: false,
    logicalParentUuid: written.tip,
    compactMetadata,
  };
  const message = { role: "user", content: summary.text };
  const flags = { isVisibleInTranscriptOnly: true, isCompactSummary: true };
  return [
    { uuid, at, parent: null, fields: boundary },
    {
      uuid: summaryUuid,
      at,
      fields: { type: "user", message, ...flags, [OWN_FIELD]: { summary: summary.own } },
    },
  ];
}

async function readSummary(
  edit: Extract<Edit, { type: "summarize" }>,
  session: ExportedSession,
  written: WrittenEntries,
): Promise<{ readonly text: string; readonly own: OwnFields["summary"] } | undefined> {
  if (edit.messages) {
    const messages: Message[] = [];
    for (const message of edit.messages) messages.push(await restoreParts(message, session));
    return { text: messages.map(textOfMessage).join("\n\n"), own: { messages: messages.map(toBareMessage) } };
  }
  const record = edit.entry === undefined ? undefined : written.findRecord(edit.entry);
  if (record === undefined) return undefined;
  for await (const entry of session.entries("log")) {
    if (entry.seq !== edit.entry || entry.kind !== "message") continue;
    return { text: textOfMessage(await restoreParts(entry.message, session)), own: { record } };
  }
  return undefined;
}

function toBareMessage({ role, parts }: Message) {
  return { role, parts: parts.filter((part) => part.type === "text" || part.type === "reasoning") };
}

async function restoreParts(message: Message, session: ExportedSession): Promise<Message> {
  const parts: Part[] = [];
  for (const part of message.parts) parts.push(await session.restore(part));
  return { ...message, parts };
}

/** Builds the line that replaces tool results; undefined if the edit replaces something else. */
export async function buildReplacementLine(
  edit: Extract<Edit, { type: "replace" }>,
  sessionId: string,
  session: ExportedSession,
  written: WrittenEntries,
): Promise<JsonObject | undefined> {
  const { target } = edit;
  const call = "callId" in target ? target.callId : written.findCall(target.seq, target.part);
  if (call === undefined) return undefined;
  const results = edit.parts.filter((part) => part.type === "tool-result");
  const replaced = results.length > 0 ? results : [{ callId: call, output: edit.parts }];
  const replacements: Json[] = [];
  for (const { callId, output } of replaced)
    replacements.push({
      kind: "tool-result",
      toolUseId: callId,
      replacement: await textOfOutput(output, session),
    });
  return { type: "content-replacement", sessionId, replacements };
}

async function textOfOutput(output: readonly Part[], session: ExportedSession): Promise<string> {
  const { parts } = await restoreParts({ role: "user", parts: output }, session);
  return parts
    .map((part) => (part.type === "text" ? part.text : `[${part.type === "blob" ? part.mime : part.type}]`))
    .join("\n");
}
