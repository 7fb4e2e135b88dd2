import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { ToolCallPart } from "../../model/part.ts";
import { findTouches } from "./find-touches.ts";

/** A commit that an agent made. */
export interface Commit {
  /** The first line of its message. */
  readonly subject?: string;
  /** The beginning of its hash, as git reported it. */
  readonly hash?: string;
}

/** A commit; an amended one repeats the message of another. */
const COMMAND = /\bgit\s+(?:-C\s+\S+\s+)?commit\b(?!.*--amend)/;
const HEREDOC = /<<-?\s*['"]?(\w+)['"]?\n([\s\S]*?)\n\s*\1\b/;
const MESSAGE = /\s(?:-a?m|--message)[ =]\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)')/;
/** Git's report of a new commit. */
const REPORT = /^\[[^\]\n]*? ([0-9a-f]{7,40})\] (.+)$/m;
const REFUSAL = /\bnothing (?:added )?to commit\b|\bno changes added to commit\b|^(?:error|fatal): /m;

/** True if a command line makes a commit. */
export function isCommitCommand(command: string): boolean {
  return COMMAND.test(command);
}

/** Finds the command line of a call that makes a commit. */
export function findCommitCommand(call: ToolCallPart): string | undefined {
  return findTouches(call).find(({ command }) => command !== undefined && isCommitCommand(command))?.command;
}

/** Reads a commit from its command line and git's output; undefined if the output says that none was made. */
export function parseCommit(command: string, output: string): Commit | undefined {
  const [, hash, reported] = REPORT.exec(output) ?? [];
  if (hash === undefined && REFUSAL.test(output)) return undefined;
  const quoted = MESSAGE.exec(command);
  const message = HEREDOC.exec(command)?.[2] ?? quoted?.[1] ?? quoted?.[2];
  const subject = reported ?? message?.split("\n").find((line) => line.trim() !== "");
  return { ...(subject !== undefined && { subject: subject.trim() }), ...dropUndefined({ hash }) };
}
