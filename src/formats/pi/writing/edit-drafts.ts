import { type Entry, formatEntryId, type Message, type Part } from "../../../index.ts";
import type { OverlayBody, SeqRange } from "../../../log-entry.ts";
import { toText as stringOf } from "../../../wire/fields.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import { buildMessageDrafts, type DraftSource, type PiDraft, readMessageText } from "./message-drafts.ts";
import { encodePiBlocks } from "./pi-block-encode.ts";
import type { PiPlaces, WrittenPiEntry } from "./pi-places.ts";
import { splitBeginning } from "./session-survey.ts";

/** Context for writing an edit. */
interface EditContext {
  readonly line: readonly SeqRange[];
  readonly places: PiPlaces;
  readonly source: DraftSource;
  /** pi's original entry of the edit, without the fields that the edit holds. */
  readonly extra: JsonObject | undefined;
}

/** Placeholder for the id that the entry itself will get. */
export const OWN_ID = Symbol("own id");

/** Builds the entries that give pi the same window as an edit gives us. */
export async function buildEditDrafts(
  entry: Entry<OverlayBody>,
  context: EditContext,
): Promise<readonly PiDraft[]> {
  const { edit } = entry;
  switch (edit.type) {
    case "summarize":
      return buildSummaryDrafts(entry, edit, context);
    case "hide":
      if (context.extra) return [buildDraft({ ...context.extra })];
      return context.places.findHidden(edit.ranges).map(buildRemoval);
    case "replace":
      return buildReplaceDrafts(entry, edit, context);
    case "plan":
    case "revert":
      return [];
  }
}

type OverlayEdit<T extends OverlayBody["edit"]["type"]> = Extract<OverlayBody["edit"], { type: T }>;

async function buildSummaryDrafts(
  entry: Entry<OverlayBody>,
  edit: OverlayEdit<"summarize">,
  context: EditContext,
): Promise<readonly PiDraft[]> {
  const { line, places, source, extra } = context;
  const { beginning, others } = splitBeginning(edit.ranges, line);
  const [own] = edit.entry === undefined ? [] : places.getWritten(formatEntryId(entry.session, edit.entry));
  const [first, ...rest] = edit.messages ?? [];
  const isOwn = extra !== undefined;
  const summary = first
    ? await joinTexts(isOwn ? [first] : [first, ...rest], source)
    : (own?.blocks ?? []).flatMap(({ text }) => stringOf(text) ?? []).join("\n");
  const hidden = places.findHidden(others).map(buildRemoval);
  if (!beginning) {
    const fields = {
      type: "custom_message",
      customType: "longhaul.summary",
      content: summary,
      display: true,
    };
    return [...hidden, buildDraft(fields)];
  }
  const { firstKeptEntryIndex: _, ...kept } = extra ?? {};
  const behind = places.getFirstAfter(formatEntryId(beginning.session, beginning.to));
  const tail = isOwn && rest.length > 0 ? { retainedTail: await buildTail(rest, entry.at, source) } : {};
  const fields = {
    type: "compaction",
    ...(rest.length > 0 && isOwn ? {} : { firstKeptEntryId: behind ?? OWN_ID }),
    ...kept,
    summary,
    tokensBefore: entry.tokensBefore ?? 0,
    ...tail,
  };
  return [...hidden, { ...buildDraft(fields as JsonObject), usage: "entry" }];
}

async function joinTexts(messages: readonly Message[], source: DraftSource): Promise<string> {
  const texts: string[] = [];
  for (const message of messages) texts.push(await readMessageText(message, source));
  return texts.join("\n\n");
}

async function buildTail(
  messages: readonly Message[],
  at: number,
  source: DraftSource,
): Promise<readonly unknown[]> {
  const tail: unknown[] = [];
  for (const message of messages)
    for (const { fields } of await buildMessageDrafts(message, at, undefined, source))
      tail.push(fields.message);
  return tail;
}

async function buildReplaceDrafts(
  entry: Entry<OverlayBody>,
  edit: OverlayEdit<"replace">,
  { places, source, extra }: EditContext,
): Promise<readonly PiDraft[]> {
  const { target, parts } = edit;
  const content = await encodePiBlocks(parts, source);
  if (extra) return [buildDraft({ ...extra, replacement: { content } })];
  if ("callId" in target) {
    const written = places.getResult(target.callId);
    return written ? [buildReplacement(written, content)] : [];
  }
  const written = places
    .getWritten(formatEntryId(entry.session, target.seq))
    .filter(({ isEditable }) => isEditable);
  const { part } = target;
  if (part === undefined) return replaceWhole(written, parts, content, source);
  const holder = written.find((one) => one.parts.includes(part));
  if (!holder) return [];
  if (holder.callId !== undefined) return [buildReplacement(holder, content)];
  const at = holder.parts.indexOf(part);
  return [
    buildReplacement(
      holder,
      holder.blocks.flatMap((block, index) => (index === at ? content : [block])),
    ),
  ];
}

/** Replaces all parts of a message: each tool result gets its own part, and another entry the rest. */
async function replaceWhole(
  written: readonly WrittenPiEntry[],
  parts: readonly Part[],
  content: readonly JsonObject[],
  source: DraftSource,
): Promise<readonly PiDraft[]> {
  const drafts: PiDraft[] = [];
  for (const one of written) {
    const results = parts.filter((part) => part.type === "tool-result" && part.callId === one.callId);
    if (one.callId === undefined) {
      const rest = parts.filter(({ type }) => type !== "tool-result");
      drafts.push(buildReplacement(one, await encodePiBlocks(rest, source)));
    } else
      drafts.push(
        buildReplacement(one, results.length > 0 ? await encodePiBlocks(results, source) : content),
      );
  }
  return drafts;
}

function buildReplacement({ id }: WrittenPiEntry, content: readonly JsonObject[]): PiDraft {
  return buildDraft({ type: "context_edit", targetId: id, replacement: { content } });
}

function buildRemoval(id: string): PiDraft {
  return buildDraft({ type: "context_edit", targetId: id, replacement: null });
}

function buildDraft(fields: JsonObject): PiDraft {
  return { fields, parts: [], blocks: [] };
}
