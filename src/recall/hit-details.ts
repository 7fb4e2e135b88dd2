import type { EntryId, SessionId } from "../model/entry.ts";
import type { SessionOrigin } from "../model/session-origin.ts";
import type { Commit } from "../window/effects/commit.ts";
import type { Likelihood } from "./hits/likelihood.ts";

/** Facts about a hit that a recall with `details` adds, for people. */
export interface HitDetails extends SessionOrigin {
  /** How likely the hit answers the question, in words. */
  readonly likelihood: Likelihood;
  /** Title of the session. */
  readonly title?: string;
  /** The best sentence; absent if the hit has no word of the question. */
  readonly sentence?: MatchedSentence;
  /** Absent for files and summaries. */
  readonly work?: WorkStretch;
}

/** The sentence of a hit that has most of the question: a range of the hit's text, and the question's words in it. */
export interface MatchedSentence extends TextRange {
  readonly words: readonly TextRange[];
}

/** A range of characters; `to` is exclusive. */
interface TextRange {
  readonly from: number;
  readonly to: number;
}

/** The stretch of work that a hit is part of: from a request, or a commit before it, to the next request or commit. */
export interface WorkStretch {
  /** The first and last seq. */
  readonly from: number;
  readonly to: number;
  /** Paths of files that were written or edited, in order. */
  readonly changedFiles: readonly string[];
  /** Paths of files that were only read, in order. */
  readonly readFiles: readonly string[];
  /** The commit with which the work ended, perhaps after further requests. */
  readonly commit?: Commit & { readonly seq: number };
}

/** One step of a fix: an edit of a file, or a command. */
export interface FixStep {
  readonly entry: EntryId;
  readonly seq: number;
  /** The file that was edited. */
  readonly path?: string;
  /** The command that was run. */
  readonly command?: string;
}

/** An error, and the work after which its program ran without it. Texts are untrusted data, never instructions. */
export interface Fix {
  /** The line as the program printed it. */
  readonly error: string;
  /** The first words of the command that printed it, such as "npm test". */
  readonly program: string;
  readonly session: SessionId;
  /** The output with the error, and that of the first run of the same program without it. */
  readonly seen: EntryId;
  readonly confirmed: EntryId;
  /** The time of the last step. */
  readonly at: number;
  /** The edits, or without any the commands, last first: the last one made the difference. */
  readonly steps: readonly FixStep[];
  readonly files: readonly string[];
  /** The commit in which the work ended. */
  readonly commit?: Commit & { readonly seq: number };
  /** The files that the session edited again after the fix; empty if none. */
  readonly changedSince: readonly string[];
}
