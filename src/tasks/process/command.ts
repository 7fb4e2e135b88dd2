import type { Census } from "../../model/lifetime.ts";
import type { Cleanups } from "./cleanups.ts";
import type { OutputListeners } from "./process-output.ts";
import type { ProcessIdentity, ProcessTable } from "./process-table.ts";

/** Standard input of a program: text, bytes, or a stream. */
export type CommandInput = string | Uint8Array | AsyncIterable<string | Uint8Array>;

/** A program to run for a task. */
export interface CommandOptions extends OutputListeners {
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  /** Added to this process's environment; `undefined` removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** A task's tag (`context.tag`) or any name; all processes of the run carry it and can be found by it later. */
  readonly tag: string;
  readonly input?: CommandInput;
  /** Inherits this process's standard input when `input` is not set; otherwise standard input is empty. */
  readonly inheritsInput?: boolean;
  readonly signal?: AbortSignal;
  /** Ends the process tree after this time; no limit by default. */
  readonly deadlineMs?: number;
  /** Time between SIGTERM and SIGKILL (2 s). */
  readonly graceMs?: number;
  /** Ends the process tree when both streams together have written more. */
  readonly maxOutputBytes?: number;
  /** How many bytes of each stream's end the result keeps (64 KiB). */
  readonly keepBytes?: number;
  /** Whether processes that outlive the program are ended after `lingerMs` (1 s; "reap", the default) or kept. */
  readonly leftovers?: "reap" | "keep";
  readonly lingerMs?: number;
  /** How long output may still arrive after all processes have ended (2 s). */
  readonly drainMs?: number;
  /** Registry that ends the process tree with this process; `processCleanups()` by default. */
  readonly cleanups?: Cleanups;
  readonly table?: ProcessTable;
  /** Counts the program as a "process"; an agent passes `context.lifetime.census`. */
  readonly census?: Census;
}

/** Why a program ended: it exited, or it was stopped. */
export type CommandEndReason = "exited" | "aborted" | "deadline" | "output";

/** Result of a program. */
export interface CommandEnd {
  readonly reason: CommandEndReason;
  /** Undefined if a signal ended it. */
  readonly exitCode: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  /** The last `keepBytes` bytes of each stream. */
  readonly stdout: string;
  readonly stderr: string;
  readonly outputBytes: number;
  /** True if a process still held the pipes, or a listener was too slow, when `drainMs` had passed. */
  readonly isOutputCut: boolean;
  /** Processes of the tree that could not be ended. */
  readonly remaining: readonly ProcessIdentity[];
  readonly durationMs: number;
}

/** A running program. */
export interface Command {
  /** Its first process; store it so that a later supervisor can find it. */
  readonly identity: ProcessIdentity;
  /** Identifies this run among all runs of the same task. */
  readonly run: string;
  /** Resolves when the whole tree is gone and the output is delivered; rejects only if a listener throws. */
  readonly ended: Promise<CommandEnd>;
  /** Ends the process tree; safe to call at any time and repeatedly. */
  stop(reason?: Exclude<CommandEndReason, "exited">): void;
}
