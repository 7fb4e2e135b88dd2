import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { LonghaulError } from "../../model/errors.ts";
import type { Census } from "../../model/scope.ts";
import type { Cleanups } from "../process/cleanups.ts";
import { runCommand } from "../process/run-command.ts";
import { gitEnvironment } from "./git-environment.ts";

const MAX_BYTES = 32 * 1024 * 1024;
/** Retries of a call that another git process disturbs, and the delay added with each retry. */
export const MOST_ROUNDS = 12;
export const DISTURBED_MS = 10;

/** Options of a git call. */
export interface GitOptions {
  /** Git executable; the one on the PATH by default. */
  readonly program?: string;
  /** Tag of the task, which also marks processes that hooks leave running. */
  readonly tag?: string;
  readonly signal?: AbortSignal;
  /** Time limit of one call; afterwards git and its child processes are ended. */
  readonly deadlineMs?: number;
  readonly cleanups?: Cleanups;
  /** Counts each git call as a "process". */
  readonly census?: Census;
}

export interface GitAnswer {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Settings of every call: no background helpers, longer waits for locks, long paths. */
const SETTINGS = [
  "gc.auto=0",
  "maintenance.auto=false",
  "core.fsmonitor=false",
  "core.untrackedCache=false",
  "core.longpaths=true",
  "core.filesRefLockTimeout=10000",
  "core.packedRefsTimeout=10000",
].flatMap((setting) => ["-c", setting]);

/** Calls git and retries while another git process disturbs it; for repeatable calls. See `askGitOnce`. */
export async function askGit(
  cwd: string,
  args: readonly string[],
  options: GitOptions,
  input?: string,
): Promise<GitAnswer> {
  for (let round = 1; ; round++) {
    const answer = await askGitOnce(cwd, args, options, input);
    if (!isDisturbed(answer) || round === MOST_ROUNDS) return answer;
    await sleep(DISTURBED_MS * round);
  }
}

/** Git reads the folders of all worktrees and fails on one that another git is creating. */
export function isDisturbed({ exitCode, stderr }: GitAnswer): boolean {
  return exitCode !== 0 && /failed to read .*[/\\]worktrees[/\\].*[/\\](commondir|gitdir|HEAD)/.test(stderr);
}

/** Calls git and returns its output for any exit code; throws GIT_FAILED if git hangs, is killed or writes too much. */
export async function askGitOnce(
  cwd: string,
  args: readonly string[],
  options: GitOptions,
  input?: string,
): Promise<GitAnswer> {
  const end = await runCommand({
    command: options.program ?? "git",
    args: [...SETTINGS, ...args],
    cwd,
    env: gitEnvironment(process.env),
    tag: options.tag ?? `git-${randomUUID()}`,
    deadlineMs: options.deadlineMs ?? 60_000,
    graceMs: 500,
    leftovers: "keep",
    drainMs: 500,
    maxOutputBytes: MAX_BYTES,
    keepBytes: MAX_BYTES,
    ...(options.signal && { signal: options.signal }),
    ...(options.cleanups && { cleanups: options.cleanups }),
    ...(options.census && { census: options.census }),
    ...(input !== undefined && { input }),
  });
  if (end.reason === "aborted")
    throw new LonghaulError("ABORTED", `${named(args)} was aborted by its signal.`);
  const answer = { exitCode: end.exitCode ?? -1, stdout: end.stdout, stderr: end.stderr };
  if (end.reason === "deadline")
    throw gitFailed(
      args,
      answer,
      `did not end within ${options.deadlineMs ?? 60_000} ms; a hook or a disk may hang`,
    );
  if (end.exitCode === undefined) throw gitFailed(args, answer, `was ended by ${end.signal ?? end.reason}`);
  return answer;
}

/** Calls git and returns its standard output; throws GIT_FAILED unless it succeeds. */
export async function git(
  cwd: string,
  args: readonly string[],
  options: GitOptions,
  input?: string,
): Promise<string> {
  const answer = await askGit(cwd, args, options, input);
  if (answer.exitCode === 0) return answer.stdout;
  throw gitFailed(args, answer, `failed with exit code ${answer.exitCode}`);
}

/** The GIT_FAILED error, with the end of git's standard error. */
export function gitFailed(args: readonly string[], answer: GitAnswer, how: string): LonghaulError {
  const said = answer.stderr.trim().slice(-2_000);
  return new LonghaulError("GIT_FAILED", `${named(args)} ${how}${said ? `: ${said}` : "."}`, {
    details: { command: named(args), exitCode: answer.exitCode },
  });
}

function named(args: readonly string[]): string {
  const start = args.findIndex(
    (arg, index) => !arg.startsWith("-") && !/^--(git-dir|work-tree)$/.test(args[index - 1] ?? ""),
  );
  const words = args
    .slice(start)
    .filter((arg) => !arg.startsWith("-"))
    .slice(0, args[start] === "worktree" ? 2 : 1);
  return `git ${words.join(" ")}`;
}
