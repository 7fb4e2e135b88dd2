import type { Census } from "../../model/scope.ts";
import type { Cleanups } from "./cleanups.ts";
import type { OutputListeners } from "./output.ts";
import type { ProcessIdentity, ProcessTable } from "./process-table.ts";

/** What a program reads: a text, bytes, or whatever comes as it comes. */
export type CommandInput = string | Uint8Array | AsyncIterable<string | Uint8Array>;

/** A program to be run for a task. */
export interface CommandOptions extends OutputListeners {
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  /** Added to this process's environment; `undefined` takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The tag of a task (`context.tag`), or any name: all processes carry it, and are found by it later. */
  readonly tag: string;
  readonly input?: CommandInput;
  /** Without `input`: lets it read what this process would read; otherwise it reads nothing. */
  readonly inheritsInput?: boolean;
  readonly signal?: AbortSignal;
  /** Ends the tree after this time; by default it may run for ever. */
  readonly deadlineMs?: number;
  /** Time between SIGTERM and SIGKILL (2 s). */
  readonly graceMs?: number;
  /** Ends the tree when both streams together have written more. */
  readonly maxOutputBytes?: number;
  /** How much of each stream's end the result holds (64 KiB). */
  readonly keepBytes?: number;
  /** Whether processes that outlive the program are ended too (default), after `lingerMs` (1 s), or left alone. */
  readonly leftovers?: "reap" | "keep";
  readonly lingerMs?: number;
  /** How long output may still arrive after everything has ended (2 s). */
  readonly drainMs?: number;
  /** Where the tree is registered so that it ends with this process; `processCleanups()` by default. */
  readonly cleanups?: Cleanups;
  readonly table?: ProcessTable;
  /** Counts the program as a "process"; `context.scope.census` is that of an agent's kernel. */
  readonly census?: Census;
}

/** Why a program ended: by itself, or because it had to. */
export type CommandEndReason = "exited" | "aborted" | "deadline" | "output";

/** How it went. */
export interface CommandEnd {
  readonly reason: CommandEndReason;
  /** Undefined if a signal ended it. */
  readonly exitCode: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  /** The end of what it wrote, at most `keepBytes` of each. */
  readonly stdout: string;
  readonly stderr: string;
  readonly outputBytes: number;
  /** True if somebody still held the pipes, or listeners were too slow, when `drainMs` had passed. */
  readonly isOutputCut: boolean;
  /** Processes of its tree that could not be ended. */
  readonly remaining: readonly ProcessIdentity[];
  readonly durationMs: number;
}

/** A program that runs. */
export interface Command {
  /** Its first process, to be kept where a later supervisor can find it. */
  readonly identity: ProcessIdentity;
  /** Names this run among all runs of the same task. */
  readonly run: string;
  /** Kept when the whole tree is gone and the output is delivered; broken only by a listener that throws. */
  readonly ended: Promise<CommandEnd>;
  /** Ends the tree; may be called at any time, any number of times. */
  stop(reason?: Exclude<CommandEndReason, "exited">): void;
}
