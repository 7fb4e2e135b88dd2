import {
  type Entry,
  entryId,
  type Message,
  type OverlayBody,
  type Part,
  type SeqRange,
} from "../../../index.ts";
import { textOf as stringOf } from "../../content/fields.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import { blocksOfPi } from "./blocks.ts";
import { type Draft, type DraftSource, draftsOf, textOf } from "./message-drafts.ts";
import type { Places, WrittenEntry } from "./places.ts";
import { splitBeginning } from "./survey.ts";

/** Context for writing an edit. */
export interface EditContext {
  readonly line: readonly SeqRange[];
  readonly places: Places;
  readonly source: DraftSource;
  /** pi's original entry of the edit, without the fields that the edit holds. */
  readonly extra: JsonObject | undefined;
}

/** Placeholder for the id that the entry itself will get. */
export const OWN_ID = Symbol("own id");

/** Builds the entries that give pi the same window as an edit gives us. */
export async function editDrafts(entry: Entry<OverlayBody>, context: EditContext): Promise<readonly Draft[]> {
  const { edit } = entry;
  switch (edit.type) {
    case "summarize":
      return summaryDrafts(entry, edit, context);
    case "hide":
      if (context.extra) return [draft({ ...context.extra })];
      return context.places.hiddenIn(edit.ranges).map(leaveOut);
    case "replace":
      return replaceDrafts(entry, edit, context);
    case "plan":
    case "revert":
      return [];
  }
}

type Edit<T extends OverlayBody["edit"]["type"]> = Extract<OverlayBody["edit"], { type: T }>;

async function summaryDrafts(
  entry: Entry<OverlayBody>,
  edit: Edit<"summarize">,
  context: EditContext,
): Promise<readonly Draft[]> {
  const { line, places, source, extra } = context;
  const { beginning, others } = splitBeginning(edit.ranges, line);
  const [own] = edit.entry === undefined ? [] : places.writtenFor(entryId(entry.session, edit.entry));
  const [first, ...rest] = edit.messages ?? [];
  const isOwn = extra !== undefined;
  const summary = first
    ? await joinedText(isOwn ? [first] : [first, ...rest], source)
    : (own?.blocks ?? []).flatMap(({ text }) => stringOf(text) ?? []).join("\n");
  const hidden = places.hiddenIn(others).map(leaveOut);
  if (!beginning) {
    const fields = {
      type: "custom_message",
      customType: "longhaul.summary",
      content: summary,
      display: true,
    };
    return [...hidden, draft(fields)];
  }
  const { firstKeptEntryIndex: _, ...kept } = extra ?? {};
  const behind = places.behind(entryId(beginning.session, beginning.to));
  const tail = isOwn && rest.length > 0 ? { retainedTail: await tailOf(rest, entry.at, source) } : {};
  const fields = {
    type: "compaction",
    ...(rest.length > 0 && isOwn ? {} : { firstKeptEntryId: behind ?? OWN_ID }),
    ...kept,
    summary,
    tokensBefore: entry.tokensBefore ?? 0,
    ...tail,
  };
  return [...hidden, { ...draft(fields as JsonObject), usage: "entry" }];
}

async function joinedText(messages: readonly Message[], source: DraftSource): Promise<string> {
  const texts: string[] = [];
  for (const message of messages) texts.push(await textOf(message, source));
  return texts.join("\n\n");
}

async function tailOf(
  messages: readonly Message[],
  at: number,
  source: DraftSource,
): Promise<readonly unknown[]> {
  const tail: unknown[] = [];
  for (const message of messages)
    for (const { fields } of await draftsOf(message, at, undefined, source)) tail.push(fields.message);
  return tail;
}

async function replaceDrafts(
  entry: Entry<OverlayBody>,
  edit: Edit<"replace">,
  { places, source, extra }: EditContext,
): Promise<readonly Draft[]> {
  const { target, parts } = edit;
  const content = await blocksOfPi(parts, source);
  if (extra) return [draft({ ...extra, replacement: { content } })];
  if ("callId" in target) {
    const written = places.resultOf(target.callId);
    return written ? [replaced(written, content)] : [];
  }
  const written = places
    .writtenFor(entryId(entry.session, target.seq))
    .filter(({ isEditable }) => isEditable);
  const { part } = target;
  if (part === undefined) return wholly(written, parts, content, source);
  const holder = written.find((one) => one.parts.includes(part));
  if (!holder) return [];
  if (holder.callId !== undefined) return [replaced(holder, content)];
  const at = holder.parts.indexOf(part);
  return [
    replaced(
      holder,
      holder.blocks.flatMap((block, index) => (index === at ? content : [block])),
    ),
  ];
}

/** Replaces all parts of a message: each tool result gets its own part, and another entry the rest. */
async function wholly(
  written: readonly WrittenEntry[],
  parts: readonly Part[],
  content: readonly JsonObject[],
  source: DraftSource,
): Promise<readonly Draft[]> {
  const drafts: Draft[] = [];
  for (const one of written) {
    const results = parts.filter((part) => part.type === "tool-result" && part.callId === one.callId);
    if (one.callId === undefined) {
      const rest = parts.filter(({ type }) => type !== "tool-result");
      drafts.push(replaced(one, await blocksOfPi(rest, source)));
    } else drafts.push(replaced(one, results.length > 0 ? await blocksOfPi(results, source) : content));
  }
  return drafts;
}

function replaced({ id }: WrittenEntry, content: readonly JsonObject[]): Draft {
  return draft({ type: "context_edit", targetId: id, replacement: { content } });
}

function leaveOut(id: string): Draft {
  return draft({ type: "context_edit", targetId: id, replacement: null });
}

function draft(fields: JsonObject): Draft {
  return { fields, parts: [], blocks: [] };
}
