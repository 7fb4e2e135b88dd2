import type { PartInput } from "../../index.ts";
import { decodeAnthropicBlocks } from "../../wire/anthropic/anthropic-block-decode.ts";
import { dropUndefined, toArray, toNumber, toObject, toText, toTime } from "../../wire/fields.ts";
import type { ForeignEdit, Span } from "../port/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { ClaudeCodePlaces } from "./claude-code-places.ts";
import { type BareRecord, FORMAT } from "./line-records.ts";
import { OWN_FIELD, parseOwnFields } from "./own-fields.ts";

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
export function toBoundary(record: JsonObject, places: ClaudeCodePlaces): Boundary {
  const details = toObject(record.compactMetadata) ?? {};
  const trigger = toText(details.trigger);
  const kept = toObject(details.preservedSegment);
  const through = (kept && places.findRecordBefore(kept.headUuid)) ?? places.last;
  return {
    spans: through === undefined ? [] : [{ through }],
    reason: trigger === undefined ? "compaction" : `compaction (${trigger})`,
    ...dropUndefined({ tokensBefore: toNumber(details.preTokens) }),
  };
}

/**
 * Builds the overlay of a compaction. The summary is the one that our writer kept in its own field, else the line's
 * message.
 */
export function buildCompactionRecord(
  id: string,
  record: JsonObject,
  boundary: Boundary,
): BareRecord | undefined {
  const { spans, ...reason } = boundary;
  if (spans.length === 0) return undefined;
  const summary = parseOwnFields(record[OWN_FIELD])?.summary ?? { record: id };
  return buildOverlay(`${id}:compaction`, record, { type: "summarize", spans, ...summary }, reason);
}

/** Builds overlays from a line that replaces or clears tool results. */
export function buildReplacementRecords(id: string, record: JsonObject): readonly BareRecord[] {
  if (record.type === "content-replacement") {
    return toArray(record.replacements).flatMap((one) => {
      const { toolUseId, replacement } = toObject(one) ?? {};
      if (typeof toolUseId !== "string") return [];
      return [
        buildReplacement(
          id,
          record,
          toolUseId,
          decodeAnthropicBlocks(replacement, FORMAT).parts,
          "content replaced",
        ),
      ];
    });
  }
  const details = toObject(record.microcompactMetadata);
  if (record.subtype !== "microcompact_boundary" || !details) return [];
  const before = toNumber(details.preTokens);
  const saved = toNumber(details.tokensSaved);
  const tokens = dropUndefined({
    tokensBefore: before,
    tokensAfter: before === undefined || saved === undefined ? undefined : before - saved,
  });
  const calls = toArray(details.compactedToolIds).filter((call) => typeof call === "string");
  return calls.map((call, index) => {
    const parts = [{ type: "text", text: CLEARED } as const];
    // The savings of all calls are reported once.
    return buildReplacement(id, record, call, parts, "microcompaction", index === 0 ? tokens : {});
  });
}

function buildReplacement(
  id: string,
  record: JsonObject,
  callId: string,
  parts: readonly PartInput[],
  reason: string,
  tokens: { readonly tokensBefore?: number; readonly tokensAfter?: number } = {},
): BareRecord {
  const edit: ForeignEdit = { type: "replace", target: { callId }, parts };
  return buildOverlay(`${id}:${callId}`, record, edit, { reason, ...tokens });
}

function buildOverlay(
  id: string,
  record: JsonObject,
  edit: ForeignEdit,
  reason: { readonly reason: string; readonly tokensBefore?: number; readonly tokensAfter?: number },
): BareRecord {
  const at = dropUndefined({ at: toTime(record.timestamp) });
  return { id, ...at, body: { kind: "overlay", edit, ...reason } };
}
