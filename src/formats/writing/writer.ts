import type { BlobPart, Entry, Json, Part, SeqRange, SessionRecord } from "../../index.ts";

/** The formats that can be written. */
export type WriterName =
  | "anthropic"
  | "openai-chat"
  | "openai-responses"
  | "ai-sdk"
  | "ai-sdk-ui"
  | "markdown"
  | "cline"
  | "roo"
  | "pi"
  | "claude-code";

/** A piece of what a writer writes. Pieces of one file follow each other; a new name begins the next file. */
export interface OutputPiece {
  /** Path relative to the target folder; writers of a single file always give the same one. */
  readonly file: string;
  readonly text: string;
}

/** A session as a writer sees it. Nothing of it is held: every call reads it anew, a page at a time. */
export interface ExportedSession {
  readonly record: SessionRecord;
  /** The active line, ending now. */
  readonly line: readonly SeqRange[];
  /** Entries in their order: of the active line, or of the whole log with all its branches. */
  entries(which: "line" | "log"): AsyncGenerator<Entry>;
  /** Sub-agents, oldest first. */
  children(): AsyncGenerator<ExportedSession>;
  /** The bytes of media as base64. */
  base64(part: BlobPart): Promise<string>;
  /** A part that was too large for the log, as it was; others come back unchanged. */
  restore(part: Part): Promise<Part>;
  /** The value of a raw entry, also of one that lies in a blob. */
  raw(entry: Entry & { readonly kind: "raw" }): Promise<Json>;
}

/** A format that can be written. */
export interface Writer {
  readonly name: WriterName;
  readonly title: string;
  /** True if it writes a folder of several files. */
  readonly isFolder: boolean;
  write(session: ExportedSession): AsyncGenerator<OutputPiece>;
}
