import type { Json, PartInput } from "../../index.ts";
import { contentOfBlocks } from "../content/anthropic-blocks.ts";
import { arrayOf, definedFields, numberOf, objectOf, textOf, timeOf } from "../content/fields.ts";
import type { ForeignEdit, Span } from "../item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { type BareRecord, FORMAT } from "./line-records.ts";
import { OWN_FIELD, ownFieldsOf } from "./own-fields.ts";
import type { Places } from "./places.ts";

/** Claude Code's replacement for cleared tool results. */
const CLEARED = "[Old tool result content cleared]";

/** A compaction whose summary has not been read yet. */
export interface Boundary {
  /** Spans that leave the window. */
  readonly spans: readonly Span[];
  readonly reason: string;
  readonly tokensBefore?: number;
}

/** Reads a boundary: everything so far leaves, except a preserved segment at the end if the boundary names one. */
export function boundaryOf(record: JsonObject, places: Places): Boundary {
  const details = objectOf(record.compactMetadata) ?? {};
  const trigger = textOf(details.trigger);
  const kept = objectOf(details.preservedSegment);
  const through = (kept && places.before(kept.headUuid)) ?? places.last;
  return {
    spans: through === undefined ? [] : [{ through }],
    reason: trigger === undefined ? "compaction" : `compaction (${trigger})`,
    ...definedFields({ tokensBefore: numberOf(details.preTokens) }),
  };
}

/**
 * Builds the overlay of a compaction. The summary is the one that our writer kept in its own field, else the line's
 * message.
 */
export function compactionRecord(id: string, record: JsonObject, boundary: Boundary): BareRecord | undefined {
  const { spans, ...reason } = boundary;
  if (spans.length === 0) return undefined;
  const summary = ownFieldsOf(record[OWN_FIELD])?.summary ?? { record: id };
  return overlay(`${id}:compaction`, record, { type: "summarize", spans, ...summary }, reason);
}

/** Builds overlays from a line that replaces or clears tool results. */
export function replacementRecords(id: string, record: JsonObject): readonly BareRecord[] {
  if (record.type === "content-replacement") {
    return arrayOf(record.replacements).flatMap((one) => {
      const { toolUseId, replacement } = objectOf(one) ?? {};
      if (typeof toolUseId !== "string") return [];
      return [
        replacing(id, record, toolUseId, contentOfBlocks(replacement, FORMAT).parts, "content replaced"),
      ];
    });
  }
  const details = objectOf(record.microcompactMetadata);
  if (record.subtype !== "microcompact_boundary" || !details) return [];
  const before = numberOf(details.preTokens);
  const saved = numberOf(details.tokensSaved);
  const tokens = definedFields({
    tokensBefore: before,
    tokensAfter: before === undefined || saved === undefined ? undefined : before - saved,
  });
  const calls = arrayOf(details.compactedToolIds).filter((call) => typeof call === "string");
  return calls.map((call, index) => {
    const parts = [{ type: "text", text: CLEARED } as const];
    // The savings of all calls are reported once.
    return replacing(id, record, call, parts, "microcompaction", index === 0 ? tokens : {});
  });
}

function replacing(
  id: string,
  record: JsonObject,
  callId: string,
  parts: readonly PartInput[],
  reason: string,
  tokens: { readonly tokensBefore?: number; readonly tokensAfter?: number } = {},
): BareRecord {
  const edit: ForeignEdit = { type: "replace", target: { callId }, parts };
  return overlay(`${id}:${callId}`, record, edit, { reason, ...tokens });
}

function overlay(
  id: string,
  record: JsonObject,
  edit: ForeignEdit,
  reason: { readonly reason: string; readonly tokensBefore?: number; readonly tokensAfter?: number },
): BareRecord {
  const at = definedFields({ at: timeOf(record.timestamp) });
  return { id, ...at, body: { kind: "overlay", edit, ...reason } };
}

/** Restores a boundary from a checkpoint. */
export function savedBoundary(state: Json | undefined): Boundary | undefined {
  return state === undefined || state === null ? undefined : (state as unknown as Boundary);
}
