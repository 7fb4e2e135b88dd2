import type { Draft, Entry, MessageEntry, Part, ResultPart } from "../../session/session-types.ts";

/** A result of a tool call, and the entry that has it. */
export interface FoundResult {
  readonly part: ResultPart;
  readonly entry: MessageEntry;
}

/** One row of a conversation. */
export type Row =
  | {
      readonly type: "message";
      readonly key: string;
      readonly entry: MessageEntry;
      /** Results of the message's tool calls, by call. */
      readonly results: ReadonlyMap<string, FoundResult>;
    }
  | { readonly type: "entry"; readonly key: string; readonly entry: Exclude<Entry, MessageEntry> }
  | { readonly type: "draft"; readonly key: string; readonly draft: Draft };

/** Turns entries into rows: a result joins the row of its call, if that is among the entries. */
export function buildRows(entries: readonly Entry[], drafts: readonly Draft[]): readonly Row[] {
  const messages = entries.filter((entry) => entry.kind === "message");
  const results = new Map<string, FoundResult[]>();
  for (const entry of messages)
    for (const part of entry.message.parts) {
      if (part.type !== "tool-result") continue;
      const known = results.get(part.callId);
      if (known) known.push({ part, entry });
      else results.set(part.callId, [{ part, entry }]);
    }
  const places = new Map(entries.map(({ id }, index) => [id, index]));
  const joined = new Set<ResultPart>();
  const ownResults = new Map<string, Map<string, FoundResult>>();
  for (const [index, entry] of entries.entries()) {
    if (entry.kind !== "message") continue;
    const own = new Map<string, FoundResult>();
    for (const part of entry.message.parts) {
      const callId = getCallId(part);
      if (callId === undefined) continue;
      const found = results
        .get(callId)
        ?.find((one) => !joined.has(one.part) && (places.get(one.entry.id) ?? -1) >= index);
      if (!found) continue;
      joined.add(found.part);
      own.set(callId, found);
    }
    ownResults.set(entry.id, own);
  }
  const rows: Row[] = [];
  for (const entry of entries) {
    if (entry.kind !== "message") rows.push({ type: "entry", key: entry.id, entry });
    else if (!isWhollyJoined(entry, joined))
      rows.push({ type: "message", key: entry.id, entry, results: ownResults.get(entry.id) ?? new Map() });
  }
  for (const draft of drafts) rows.push({ type: "draft", key: `draft ${draft.id}`, draft });
  return rows;
}

/** The call of a part that is a tool call, also one that is too large for the log. */
export function getCallId(part: Part): string | undefined {
  if (part.type === "tool-call") return part.callId;
  return part.type === "blob" && part.of === "tool-call" ? part.callId : undefined;
}

/** The index of the row that shows an entry: its own, or that of the call which it answers. */
export function findRow(rows: readonly Row[], entry: string): number {
  const own = rows.findIndex((row) => row.type !== "draft" && isEntry(row.entry, entry));
  if (own >= 0) return own;
  return rows.findIndex(
    (row) => row.type === "message" && [...row.results.values()].some((one) => isEntry(one.entry, entry)),
  );
}

/** True if a text names the entry, by its seq or its id. */
export function isEntry({ id, seq }: Pick<Entry, "id" | "seq">, named: string): boolean {
  return named === id || named === String(seq);
}

function isWhollyJoined(entry: MessageEntry, joined: ReadonlySet<ResultPart>): boolean {
  const { parts } = entry.message;
  return parts.length > 0 && parts.every((part) => part.type === "tool-result" && joined.has(part));
}
