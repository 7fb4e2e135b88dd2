import type { Json, MessageInput, PartInput, Usage } from "../index.ts";

/** A stretch of the line by record ids, both ends included: from its beginning, through the latest record, unless given. */
export interface Span {
  readonly from?: string;
  readonly through?: string;
}

/** What a foreign tool changed in its own window, by record ids. The importer turns it into an overlay. */
export type ForeignEdit =
  | {
      readonly type: "replace";
      readonly target: { readonly record: string; readonly part?: number } | { readonly callId: string };
      readonly parts: readonly PartInput[];
    }
  | { readonly type: "hide"; readonly spans: readonly Span[] }
  /** The summary is either given as messages or is the record of that id, which is on the line itself. */
  | {
      readonly type: "summarize";
      readonly spans: readonly Span[];
      readonly messages?: readonly MessageInput[];
      readonly record?: string;
    };

/** What one record of a source means. */
export type RecordBody =
  | { readonly kind: "message"; readonly message: MessageInput }
  | {
      readonly kind: "usage";
      readonly usage: Usage;
      readonly model?: string;
      readonly provider?: string;
      /** Names the request; of several reports of one request the last one counts. */
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
  /** The tool's own id of the record, unique within the source (and child); a position where the tool has none. */
  readonly id: string;
  /** Differs when the tool has rewritten the record since. Left out where records never change. */
  readonly version?: string;
  /** Milliseconds since 1970. */
  readonly at?: number;
  /** The record it follows: left out, the one before it; null, none (it begins a line of its own). */
  readonly parent?: string | null;
  /** Name of the sub-agent it belongs to; left out, the source's own conversation. */
  readonly child?: string;
  readonly body: RecordBody;
}

/** What is known of the conversation as a whole; later items add to earlier ones. */
export interface SessionItem {
  readonly type: "session";
  readonly child?: string;
  readonly title?: string;
  readonly createdAt?: number;
  readonly meta?: { readonly [key: string]: Json };
}

/** The next record follows the record `to`, or nothing: what came after it leaves the line. */
export interface RewindItem {
  readonly type: "rewind";
  readonly to: string | null;
  readonly child?: string;
}

/** From here on the line consists of exactly these records, in this order. */
export interface LineItem {
  readonly type: "line";
  readonly records: readonly string[];
  readonly child?: string;
}

/** Everything before is final: a later import may begin from `state`. */
export interface CheckpointItem {
  readonly type: "checkpoint";
  readonly state: Json;
}

/** Something broken in the source. */
export interface ProblemItem {
  readonly type: "problem";
  readonly path: string;
  readonly line?: number;
  /** "lost": the record could not be kept; "damaged": it was kept, but not all of it is as it was. */
  readonly severity: "lost" | "damaged";
  readonly reason: string;
}

/** Bytes of the source that were left out because the log holds the same elsewhere. */
export interface CopyItem {
  readonly type: "copy";
  readonly bytes: number;
}

/** What reading a source yields. */
export type Item = RecordItem | SessionItem | RewindItem | LineItem | CheckpointItem | ProblemItem | CopyItem;
