import type { SeqRange } from "../../kernel/faces/log.ts";
import type { BlobPart, Entry, Json, Part, SessionRecord } from "../../kernel/index.ts";

/** Formats that can be exported. */
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
  | "claude-code"
  | "codex"
  | "opencode"
  | "gemini-cli";

/** A piece of output. Pieces of one file are consecutive; a new name begins the next file. */
export interface OutputPiece {
  /** Path relative to the target folder; constant for writers of a single file. */
  readonly file: string;
  readonly text: string;
}

/** A session as writers see it. It holds no entries: every call reads them again, page by page. */
export interface ExportedSession {
  readonly record: SessionRecord;
  /** The active line at the time of the export. */
  readonly line: readonly SeqRange[];
  /** Yields entries in order: of the active line, or of the whole log with all branches. */
  entries(which: "line" | "log"): AsyncGenerator<Entry>;
  /** Sub-agents, oldest first. */
  children(): AsyncGenerator<ExportedSession>;
  /** Returns the bytes of media as base64. */
  base64(part: BlobPart): Promise<string>;
  /** Restores a part that is stored as a blob; returns other parts unchanged. */
  restore(part: Part): Promise<Part>;
  /** Returns the value of a raw entry, even if it is stored as a blob. */
  raw(entry: Entry & { readonly kind: "raw" }): Promise<Json>;
}

/** Export of one format. */
export interface Writer {
  readonly name: WriterName;
  readonly title: string;
  /** True if it writes a folder of several files. */
  readonly isFolder: boolean;
  write(session: ExportedSession): AsyncGenerator<OutputPiece>;
}
