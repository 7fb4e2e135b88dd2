import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { waitAtMost } from "../base/time-limit.ts";
import { checkFields, checkKind } from "../model/argument-checks.ts";
import { throwIfAborted } from "../model/errors.ts";
import { checkTable } from "./check-table.ts";
import { processCleanups } from "./cleanups.ts";
import type { Command, CommandEnd, CommandEndReason, CommandInput, CommandOptions } from "./command.ts";
import { registerLiveCommand } from "./live-commands.ts";
import { readProcessOutput } from "./process-output.ts";
import { sendSignal } from "./process-table.ts";
import { checkTag } from "./process-tags.ts";
import { reapTree } from "./reap-tree.ts";
import { RunTree } from "./run-tree.ts";
import { spawnTagged } from "./spawn-tagged.ts";
import { getSystemTable } from "./system-table.ts";

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
