import type { Json, MessageInput, PartInput, Usage } from "../../kernel/index.ts";

/**
 * A range of the line by record ids, both inclusive. It starts at the beginning of the line and ends at the latest
 * record unless given.
 */
export interface Span {
  readonly from?: string;
  readonly through?: string;
}

/** A foreign tool's edit of its own window, by record ids; the importer turns it into an overlay. */
export type ForeignEdit =
  | {
      readonly type: "replace";
      readonly target: { readonly record: string; readonly part?: number } | { readonly callId: string };
      readonly parts: readonly PartInput[];
    }
  | { readonly type: "hide"; readonly spans: readonly Span[] }
  /** The summary is given as messages, or is the record with that id on the active line. */
  | {
      readonly type: "summarize";
      readonly spans: readonly Span[];
      readonly messages?: readonly MessageInput[];
      readonly record?: string;
    };

/** Decoded content of a record. */
export type RecordBody =
  | { readonly kind: "message"; readonly message: MessageInput }
  | {
      readonly kind: "usage";
      readonly usage: Usage;
      readonly model?: string;
      readonly provider?: string;
      /** Request id; the last report of a request counts. */
      readonly request?: string;
      readonly meta?: { readonly [key: string]: Json };
    }
  | { readonly kind: "notice"; readonly text: string }
  | { readonly kind: "raw"; readonly value: Json }
  | {
      readonly kind: "overlay";
      readonly edit: ForeignEdit;
      readonly reason: string;
      readonly madeAt?: number;
      readonly tokensBefore?: number;
      readonly tokensAfter?: number;
    };

/** One record of a source. */
export interface RecordItem {
  readonly type: "record";
  /** The tool's own record id, unique within the source (and child); a position if the tool has none. */
  readonly id: string;
  /** Changes when the tool rewrites the record; absent if records never change. */
  readonly version?: string;
  /** Milliseconds since 1970. */
  readonly at?: number;
  /** The preceding record: the previous item if absent; null if the record starts a new line. */
  readonly parent?: string | null;
  /** Name of the sub-agent; absent for the source's own conversation. */
  readonly child?: string;
  readonly body: RecordBody;
}

/** Facts about the conversation as a whole; later items add to earlier ones. */
export interface SessionItem {
  readonly type: "session";
  readonly child?: string;
  readonly title?: string;
  readonly createdAt?: number;
  readonly meta?: { readonly [key: string]: Json };
}

/** Rewinds the line to the record `to`, or to its beginning if null. */
export interface RewindItem {
  readonly type: "rewind";
  readonly to: string | null;
  readonly child?: string;
}

/** Replaces the line with exactly these records, in this order. */
export interface LineItem {
  readonly type: "line";
  readonly records: readonly string[];
  readonly child?: string;
}

/** Everything before this item is final: a later import may resume from `state`. */
export interface CheckpointItem {
  readonly type: "checkpoint";
  readonly state: Json;
}

/** A defect in the source. */
export interface ProblemItem {
  readonly type: "problem";
  readonly path: string;
  readonly line?: number;
  /** "lost": the record could not be kept. "damaged": it was kept incompletely. */
  readonly severity: "lost" | "damaged";
  readonly reason: string;
}

/** Bytes of the source that were left out because the log already has the same content. */
export interface CopyItem {
  readonly type: "copy";
  readonly bytes: number;
}

export type Item = RecordItem | SessionItem | RewindItem | LineItem | CheckpointItem | ProblemItem | CopyItem;
