import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { LonghaulError } from "../../model/errors.ts";
import type { Census } from "../../model/lifetime.ts";
import type { Cleanups } from "../process/cleanups.ts";
import { runCommand } from "../process/run-command.ts";

const MAX_BYTES = 32 * 1024 * 1024;
/** Retries of a call that another git process disturbs, and the delay added with each retry. */
const MAX_GIT_ROUNDS = 12;
const GIT_RETRY_MS = 10;

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

interface GitResult {
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

/**
 * Calls git and retries while another git process disturbs it; for calls that are repeatable, if need be after `undo`.
 * See `callGitOnce`.
 */
export async function callGit(
  cwd: string,
  args: readonly string[],
  options: GitOptions,
  input?: string,
  undo?: () => Promise<unknown>,
): Promise<GitResult> {
  for (let round = 1; ; round++) {
    const answer = await callGitOnce(cwd, args, options, input);
    if (!isDisturbed(answer) || round === MAX_GIT_ROUNDS) return answer;
    await undo?.();
    await sleep(GIT_RETRY_MS * round);
  }
}

/** Git reads the folders of all worktrees and fails on one that another git is creating. */
function isDisturbed({ exitCode, stderr }: GitResult): boolean {
  return exitCode !== 0 && /failed to read .*[/\\]worktrees[/\\].*[/\\](commondir|gitdir|HEAD)/.test(stderr);
}

/** Calls git and returns its output for any exit code; throws GIT_FAILED if git hangs, is killed or writes too much. */
async function callGitOnce(
  cwd: string,
  args: readonly string[],
  options: GitOptions,
  input?: string,
): Promise<GitResult> {
  const end = await runCommand({
    command: options.program ?? "git",
    args: [...SETTINGS, ...args],
    cwd,
    env: buildGitEnvironment(process.env),
    tag: options.tag ?? `git-${randomUUID()}`,
    deadlineMs: options.deadlineMs ?? 60_000,
    graceMs: 500,
    leftovers: "keep",
    drainMs: 500,
    maxOutputBytes: MAX_BYTES,
    keepBytes: MAX_BYTES,
    ...dropUndefined({ signal: options.signal, cleanups: options.cleanups, census: options.census, input }),
  });
  if (end.reason === "aborted")
    throw new LonghaulError("ABORTED", `${describeCommand(args)} was aborted by its signal.`);
  const answer = { exitCode: end.exitCode ?? -1, stdout: end.stdout, stderr: end.stderr };
  if (end.reason === "deadline")
    throw createGitError(
      args,
      answer,
      `did not end within ${options.deadlineMs ?? 60_000} ms; a hook or a disk may hang`,
    );
  if (end.exitCode === undefined)
    throw createGitError(args, answer, `was ended by ${end.signal ?? end.reason}`);
  return answer;
}

/** Calls git and returns its standard output; throws GIT_FAILED unless it succeeds. */
export async function runGit(
  cwd: string,
  args: readonly string[],
  options: GitOptions,
  input?: string,
): Promise<string> {
  const answer = await callGit(cwd, args, options, input);
  if (answer.exitCode === 0) return answer.stdout;
  throw createGitError(args, answer, `failed with exit code ${answer.exitCode}`);
}

/** The GIT_FAILED error, with the end of git's standard error. */
export function createGitError(args: readonly string[], answer: GitResult, how: string): LonghaulError {
  const said = answer.stderr.trim().slice(-2_000);
  return new LonghaulError("GIT_FAILED", `${describeCommand(args)} ${how}${said ? `: ${said}` : "."}`, {
    details: { command: describeCommand(args), exitCode: answer.exitCode },
  });
}

function describeCommand(args: readonly string[]): string {
  const start = args.findIndex(
    (arg, index) => !arg.startsWith("-") && !/^--(git-dir|work-tree)$/.test(args[index - 1] ?? ""),
  );
  const words = args
    .slice(start)
    .filter((arg) => !arg.startsWith("-"))
    .slice(0, args[start] === "worktree" ? 2 : 1);
  return `git ${words.join(" ")}`;
}

/** Git variables that configure git for this user rather than select a repository. */
const KEPT_VARIABLES =
  /^GIT_(CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)|EXEC_PATH|TEMPLATE_DIR|SSH|SSH_COMMAND|SSH_VARIANT|SSL_.*|HTTP_.*|PROXY_.*|AUTHOR_.*|COMMITTER_.*)$/;

/**
 * Environment changes for our git calls: no variables of a calling git (a hook sets GIT_DIR), no prompts, English
 * output, and no optional locks.
 */
export function buildGitEnvironment(from: NodeJS.ProcessEnv): Record<string, string | undefined> {
  const removed = Object.keys(from).filter((name) => name.startsWith("GIT_") && !KEPT_VARIABLES.test(name));
  return {
    ...Object.fromEntries(removed.map((name) => [name, undefined])),
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "true",
    SSH_ASKPASS: "true",
    GIT_SSH_COMMAND: from.GIT_SSH_COMMAND ?? (from.GIT_SSH ? undefined : "ssh -oBatchMode=yes"),
    GIT_EDITOR: "true",
    GIT_PAGER: "cat",
    GIT_OPTIONAL_LOCKS: "0",
    LC_ALL: "C",
    LANGUAGE: undefined,
  };
}
