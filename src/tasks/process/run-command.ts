import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { checkFields, checkKind } from "../../model/argument-checks.ts";
import { waitAtMost } from "../../model/base/time-limit.ts";
import { LonghaulError, throwIfAborted } from "../../model/errors.ts";
import { type Cleanups, processCleanups } from "./cleanups.ts";
import type { Command, CommandEnd, CommandEndReason, CommandInput, CommandOptions } from "./command.ts";
import { readProcessOutput } from "./process-output.ts";
import {
  type ProcessIdentity,
  type ProcessSnapshot,
  type ProcessTable,
  sendSignal,
} from "./process-table.ts";
import { buildTagVariables, checkTag, RUNS_VARIABLE } from "./process-tags.ts";
import { findMembers } from "./process-tree.ts";
import { reapTree } from "./reap-tree.ts";
import { checkTable, getSystemTable } from "./system-table.ts";

const COMMAND_FIELDS = {
  command: "name",
  args: "array?",
  cwd: "text?",
  env: "object?",
  tag: "text",
  signal: "signal?",
  deadlineMs: "number?",
} as const;

/** Timers with a longer delay fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Runs a program until it exits, its deadline passes or its signal fires, and ends every process it started. */
export async function runCommand(options: CommandOptions): Promise<CommandEnd> {
  return (await startCommand(options)).ended;
}

/**
 * Starts a program; throws PROGRAM_NOT_STARTED if it cannot be started, PROCESSES_HIDDEN if the system does not list
 * its processes, ABORTED if the signal has already fired.
 */
export async function startCommand(options: CommandOptions): Promise<Command> {
  checkFields("options", options, COMMAND_FIELDS);
  if (options.args !== undefined)
    for (const [index, arg] of options.args.entries()) checkKind(`args[${index}]`, arg, "text");
  checkTag(options.tag);
  throwIfAborted(options.signal);
  const table = options.table ?? getSystemTable();
  await checkTable(table);
  throwIfAborted(options.signal);
  const startedAt = performance.now();
  const run = randomUUID().slice(-12);
  const { child, streams, identity, exited } = await spawnTagged(options, run);
  const tree = new RunTree(run, identity);
  const exit = exited.then((how) => {
    tree.hasLeaderExited = true;
    return how;
  });

  const stopping = Promise.withResolvers<CommandEndReason>();
  let reason: CommandEndReason | undefined;
  const stop = (why: CommandEndReason = "aborted") => {
    reason ??= why;
    stopping.resolve(why);
  };
  const maxOutput = options.maxOutputBytes ?? Number.POSITIVE_INFINITY;
  const output = readProcessOutput(streams, options, {
    keepBytes: options.keepBytes ?? 64 * 1024,
    onBytes: (total) => total > maxOutput && stop("output"),
  });
  // A listener that throws stops the program, and `ended` rejects with its error.
  output.done.catch(() => stop("aborted"));
  feedInput(child, options.input);

  const finish = async (): Promise<CommandEnd> => {
    const first = await Promise.race([exit, stopping.promise.then(() => undefined)]);
    if (first) reason ??= "exited";
    // If processes cannot be listed, for example when no more files can be opened, the group can still be killed.
    const isOver =
      first !== undefined &&
      (options.leftovers === "keep" ||
        (await tree.waitUntilEmpty(table, options.lingerMs ?? 1_000, stopping.promise).catch(() => false)));
    const reap = () => reapTree((list) => tree.members(list), options);
    const reaped = isOver ? undefined : await reap().catch(() => undefined);
    if (!tree.hasLeaderExited && !reaped?.remaining.length) {
      sendSignal(-identity.pid, "SIGKILL");
      child.kill("SIGKILL");
    }
    // A process stuck in the kernel never exits, so it is reported instead of awaited.
    const how = await waitAtMost(reaped?.remaining.length ? 100 : 5_000, exit);
    const isDrained = await waitAtMost(
      options.drainMs ?? 2_000,
      output.done.then(() => true),
    );
    return {
      reason: reason ?? "exited",
      exitCode: how?.code ?? undefined,
      signal: how?.signal ?? undefined,
      stdout: output.tail("stdout").text(),
      stderr: output.tail("stderr").text(),
      outputBytes: output.totalBytes(),
      isOutputCut: !isDrained,
      remaining: reaped?.remaining ?? [],
      durationMs: performance.now() - startedAt,
    };
  };

  const deadline =
    options.deadlineMs === undefined
      ? undefined
      : setTimeout(stop, Math.min(options.deadlineMs, MAX_TIMER_MS), "deadline");
  const onAbort = () => stop("aborted");
  options.signal?.addEventListener("abort", onAbort, { once: true });
  const ended = finish().finally(() => {
    clearTimeout(deadline);
    options.signal?.removeEventListener("abort", onAbort);
    output.close();
    child.stdin?.destroy();
    child.unref();
    letGo();
  });
  const letGo = registerLiveCommand({ tree, stop, ended }, options.cleanups ?? processCleanups(), table);
  if (options.signal?.aborted) stop("aborted");
  ended.catch(() => {});
  return { identity, run, ended, stop };
}

/** Pipes the input to a program and closes it; errors are ignored, because a program may stop reading. */
function feedInput(child: ChildProcess, input: CommandInput | undefined): void {
  if (input === undefined || !child.stdin) return;
  const source = typeof input === "string" || input instanceof Uint8Array ? [input] : input;
  pipeline(Readable.from(source, { objectMode: true }), child.stdin).catch(() => child.stdin?.destroy());
}

/** A started program with its output streams. */
interface TaggedProcess {
  readonly child: ChildProcess;
  readonly streams: { readonly stdout: Readable; readonly stderr: Readable };
  readonly identity: ProcessIdentity;
  readonly exited: Promise<ProcessExit>;
}

/** Exit of a process, by code or by signal. */
interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Starts a tagged program as the leader of its own session and group; never through a shell. */
async function spawnTagged(options: CommandOptions, run: string): Promise<TaggedProcess> {
  const env = {
    ...process.env,
    ...options.env,
    ...buildTagVariables(options.tag, run, process.env[RUNS_VARIABLE]),
  };
  let child: ChildProcess;
  try {
    child = spawn(options.command, [...(options.args ?? [])], {
      cwd: options.cwd,
      env,
      detached: process.platform !== "win32",
      windowsHide: true,
      stdio: [chooseStdin(options), "pipe", "pipe"],
    });
  } catch (error) {
    throw createStartError(options, error);
  }
  const { pid, stdout, stderr } = child;
  if (pid === undefined || !stdout || !stderr) {
    const [error] = await once(child, "error");
    throw createStartError(options, error);
  }
  // Node discards the output of a program that exits while nobody listens, as during the look below.
  for (const stream of [stdout, stderr]) stream.on("readable", () => {});
  options.census?.opened("process");
  // Later errors come from signals to a process that is gone.
  child.on("error", () => {});
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once("exit", (code, signal) => {
      options.census?.closed("process");
      resolve({ code, signal });
    });
  });
  const identity = await (options.table ?? getSystemTable()).look(pid);
  return { child, streams: { stdout, stderr }, identity: identity ?? { pid, born: "" }, exited };
}

function chooseStdin({ input, inheritsInput }: CommandOptions): "ignore" | "inherit" | "pipe" {
  if (input !== undefined) return "pipe";
  return inheritsInput ? "inherit" : "ignore";
}

function createStartError(options: CommandOptions, cause: unknown): LonghaulError {
  const reason = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown";
  const hasFolder = options.cwd === undefined || existsSync(options.cwd);
  const why = !hasFolder
    ? `its folder ${JSON.stringify(options.cwd)} does not exist`
    : reason === "ENOENT"
      ? "there is no such program on the PATH; install it or give its whole path"
      : `the system says ${reason}`;
  return new LonghaulError(
    "PROGRAM_NOT_STARTED",
    `${JSON.stringify(options.command)} could not be started: ${why}.`,
    { cause, details: { command: options.command, reason } },
  );
}

/** A run that has not ended. */
interface LiveCommand {
  readonly tree: RunTree;
  readonly ended: Promise<unknown>;
  stop(): void;
}

const WATCH_MS = 2_000;
/** Maximum share of the time spent on watching. */
const WATCH_SHARE = 0.02;
const EXIT_ROUNDS = 3;

interface Watch {
  readonly live: Set<LiveCommand>;
  close(): void;
}

const watches = new WeakMap<Cleanups, Watch>();

/**
 * Ends a run together with this process, and polls all runs so that processes which leave the tree stay known. All runs
 * share one cleanup and one timer. Returns a function that unregisters the run.
 */
function registerLiveCommand(command: LiveCommand, cleanups: Cleanups, table: ProcessTable): () => void {
  let watch = watches.get(cleanups);
  if (!watch) {
    watch = startWatch(cleanups, table);
    watches.set(cleanups, watch);
  }
  const { live, close } = watch;
  live.add(command);
  return () => {
    live.delete(command);
    if (live.size > 0) return;
    close();
    watches.delete(cleanups);
  };
}

function startWatch(cleanups: Cleanups, table: ProcessTable): Watch {
  const live = new Set<LiveCommand>();
  const remove = cleanups.add(
    async () => {
      for (const command of live) command.stop();
      await Promise.allSettled([...live].map((command) => command.ended));
    },
    { onExit: () => killNow([...live], table), isLast: true },
  );
  let timer: NodeJS.Timeout;
  const watchAgain = (delayMs: number) => {
    timer = setTimeout(async () => {
      const before = performance.now();
      try {
        const list = await table.list();
        for (const { tree } of live) tree.members(list);
      } catch {
        // A failed poll is harmless; the next one may succeed.
      }
      if (live.size > 0) watchAgain(Math.max(WATCH_MS, (performance.now() - before) / WATCH_SHARE));
    }, delayMs).unref();
  };
  watchAgain(WATCH_MS / 4);
  return {
    live,
    close() {
      clearTimeout(timer);
      remove();
    },
  };
}

/** Kills everything synchronously while the process exits. */
function killNow(live: readonly LiveCommand[], table: ProcessTable): void {
  for (const { tree } of live) if (!tree.hasLeaderExited) sendSignal(-tree.leader.pid, "SIGKILL");
  for (let round = 0; round < EXIT_ROUNDS; round++) {
    const list = listNow(table);
    if (!list) return;
    const members = live.flatMap(({ tree }): ProcessSnapshot[] => tree.members(list));
    for (const signal of ["SIGSTOP", "SIGKILL"] as const)
      for (const member of members) void table.signal(member, signal);
    if (members.length === 0) return;
  }
}

/** The process list if it is available synchronously; an exiting process cannot wait. */
function listNow(table: ProcessTable): readonly ProcessSnapshot[] | undefined {
  try {
    const list = table.list();
    return list instanceof Promise ? undefined : list;
  } catch {
    return undefined;
  }
}

const MAX_KNOWN = 10_000;

/**
 * The processes of one run: the leader, its group while it lives, processes with the run's tag, all their
 * descendants, and former descendants.
 */
class RunTree {
  readonly run: string;
  readonly leader: ProcessIdentity;
  hasLeaderExited = false;
  #known = new Map<number, string>();

  constructor(run: string, leader: ProcessIdentity) {
    this.run = run;
    this.leader = leader;
    this.#known.set(leader.pid, leader.born);
  }

  /** Selects the members of the run and remembers them, because a process may later drop its environment and parent. */
  members(list: readonly ProcessSnapshot[]): ProcessSnapshot[] {
    const members = findMembers(
      list,
      (seen) =>
        this.#known.get(seen.pid) === seen.born ||
        seen.runs.includes(this.run) ||
        // A group id is the leader's pid, which may be reused once the leader is gone.
        (!this.hasLeaderExited && seen.group === this.leader.pid),
    );
    this.#known = new Map(members.slice(0, MAX_KNOWN).map(({ pid, born }) => [pid, born]));
    return members;
  }

  /** Waits until the run has no processes, `lingerMs` have passed or `until` resolves; returns whether it has none. */
  async waitUntilEmpty(table: ProcessTable, lingerMs: number, until: Promise<unknown>): Promise<boolean> {
    const end = performance.now() + lingerMs;
    let isOver = false;
    void until.then(() => {
      isOver = true;
    });
    for (let pauseMs = 5; ; pauseMs = Math.min(100, pauseMs * 2)) {
      const find = (list: readonly ProcessSnapshot[]) => this.members(list);
      // A process in the middle of exec shows no environment, so it may belong to the run.
      const isEmpty = find(await table.list()).length === 0 && !table.chase?.(find) && !table.hasUnread?.();
      if (isEmpty || isOver || performance.now() >= end) return isEmpty;
      await Promise.race([sleep(pauseMs), until]);
    }
  }
}
