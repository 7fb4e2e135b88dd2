import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import type { ToolCallPart, ToolResultPart } from "../../../model/part.ts";
import { findTouches } from "../../effects/find-touches.ts";
import type { LineRange } from "../../effects/line-range.ts";
import { getOutputText } from "../../extract/part-text.ts";
import { citeOf, type SourceMessage } from "./summary-candidate.ts";

/** A tool call with its result, if there is one yet. */
export interface Action {
  readonly call: ToolCallPart;
  readonly source: SourceMessage;
  result?: { readonly part: ToolResultPart; readonly told: SourceMessage };
}

/** The tool calls of a conversation in order. A result answers the latest open call with its id. */
export function collectActions(messages: readonly SourceMessage[]): readonly Action[] {
  const actions: Action[] = [];
  const open = new Map<string, Action>();
  for (const told of messages) {
    for (const part of told.message.parts) {
      if (part.type === "tool-call") {
        const action: Action = { call: part, source: told };
        actions.push(action);
        open.set(part.callId, action);
      } else if (part.type === "tool-result") {
        const action = open.get(part.callId);
        if (!action) continue;
        action.result = { part, told };
        open.delete(part.callId);
      }
    }
  }
  return actions;
}

/** The text of a result. */
export function getResultText(result: ToolResultPart): string {
  const [first] = result.output;
  if (result.output.length === 1 && first?.type === "text") return first.text;
  return result.output.map(getOutputText).join("\n");
}

/** A command that ran, or another call that failed, with its outcome. */
export interface ActionRun {
  readonly action: Action;
  /** The command, or tool and file. */
  readonly name: string;
  readonly isCommand: boolean;
  readonly outcome: Outcome;
  /** The later run of the same command that succeeded. */
  cure?: ActionRun;
  /** True if the same command ran again later, whatever its outcome. */
  isRepeated?: boolean;
}

/** Commands with their outcomes, and failed calls of other tools, in order; each knows whether a later run fixed it. */
export function collectRuns(actions: readonly Action[]): readonly ActionRun[] {
  const runs: ActionRun[] = [];
  const open = new Map<string, ActionRun[]>();
  const latest = new Map<string, ActionRun>();
  for (const action of actions) {
    const [touch] = findTouches(action.call);
    const isCommand = touch?.kind === "run";
    const outcome = detectOutcome(action.result?.part, isCommand);
    const what = isCommand
      ? (touch.command ?? "")
      : [action.call.name, touch?.path].filter(Boolean).join(" ");
    const key = isCommand ? `$ ${normalizeCommand(what)}` : what;
    if (outcome.kind === "fine") {
      const run: ActionRun = { action, name: what, isCommand, outcome };
      for (const part of isCommand ? listKeys(what) : [key]) {
        for (const failed of open.get(part) ?? []) failed.cure = run;
        open.delete(part);
      }
      if (!isCommand) continue;
    }
    const run: ActionRun = { action, name: what, isCommand, outcome };
    const before = latest.get(key);
    if (before) before.isRepeated = true;
    latest.set(key, run);
    if (outcome.kind === "failed") open.set(key, [...(open.get(key) ?? []), run]);
    runs.push(run);
  }
  return runs;
}

/** Keys of the failures that a successful command resolves: the command itself and each of its steps. */
function listKeys(command: string): readonly string[] {
  const steps = /["'`]|<</.test(command) ? [] : command.split(/&&/);
  return [command, ...steps].map((step) => `$ ${normalizeCommand(step)}`);
}

/** Strips the parts of a command that do not change its effect: its working directory, and filters on its output. */
export function normalizeCommand(command: string): string {
  // Joined first: the expressions below would try each end of a long run of blanks for each of its beginnings.
  return command
    .replace(/\s+/g, " ")
    .replace(/^\s*cd\s+\S+\s*(?:&&|;)\s*/, "")
    .replace(/\s*\|\s*(?:head|tail|grep|less|cat|sed -n)\b[^|&;]*/g, "")
    .replace(/\s*2>(?:&1|\s*\/dev\/null)/g, "")
    .replace(/\s*;?\s*echo\s+["']?(?:exit|EXIT)\S*\s*\$\?["']?\s*$/, "")
    .trim();
}

/** The outcome of a call, judging by its result. */
interface Outcome {
  readonly kind: "fine" | "failed" | "refused" | "unknown";
  /** Exit code of a command, if the result states it. */
  readonly exitCode?: number;
  /** The line that describes the failure. */
  readonly evidence?: string;
}

const EXIT =
  /(?:\bexit(?:ed)?(?: with)?(?: code| status)?|"exit_?code"|exit_code|退出码|退出状态)\s*[:=]?\s*(-?\d{1,3})\b/i;
const EDGE = 600;
const REFUSED =
  /doesn't want to (?:proceed|take this action)|tool use was rejected|user (?:rejected|denied|declined|cancell?ed)|permission (?:to use|denied by the user)|用户(?:拒绝|取消)/i;
const FAILING =
  /^(?:.*\b(?:ERROR task failed|command failed|Build failed|BUILD FAILED|Compilation failed)\b.*|FAIL(?:ED)?\b.*|npm ERR!.*|npm error .*|Traceback \(most recent call last\):.*|panic: .*|fatal: .*|.*\b\d+ (?:tests? )?failed\b.*|error(?:\[\w+\])?: .*|.*: command not found|.*No such file or directory.*|.*测试失败.*|.*编译失败.*)$/im;
const TROUBLE =
  /\w(?:Error|Exception)\b|\b(?:error|fail(?:ed|ure|s)?|exception|panic|fatal|assert\w*|undefined|cannot|can't|denied|not found|unknown|invalid|unexpected|expected|missing|timed? ?out|refused)\b|[✗✘×]|错误|失败|异常|找不到|超时|拒绝|无法/i;
const NO_TROUBLE = /^\s*(?:\$|>|\[[\w:]+\] \$|Exit code|Traceback)/;
const SCANNED = 6_000;

/**
 * Determines how a call ended. With `isCommand`, output without an exit code is searched for signs of failure at its
 * end.
 */
function detectOutcome(result: ToolResultPart | undefined, isCommand: boolean): Outcome {
  if (!result) return { kind: "unknown" };
  const text = getResultText(result);
  const edges = text.length > 2 * EDGE ? `${text.slice(0, EDGE)}\n${text.slice(-EDGE)}` : text;
  if (REFUSED.test(edges.slice(0, EDGE))) return { kind: "refused", ...findEvidence(text, true) };
  const code = isCommand ? EXIT.exec(edges)?.[1] : undefined;
  const exitCode = code === undefined ? undefined : Number(code);
  const isFailed =
    result.isError === true ||
    (exitCode !== undefined ? exitCode !== 0 : isCommand && FAILING.test(text.slice(-EDGE)));
  return {
    kind: isFailed ? "failed" : "fine",
    ...dropUndefined({ exitCode }),
    ...(isFailed && findEvidence(text, false)),
  };
}

function findEvidence(text: string, isFirst: boolean): { readonly evidence?: string } {
  const scanned = text.length > 2 * SCANNED ? `${text.slice(0, SCANNED)}\n${text.slice(-SCANNED)}` : text;
  const lines = scanned.split("\n");
  const telling = isFirst
    ? lines[0]
    : (lines.find((line) => line.length < 400 && TROUBLE.test(line) && !NO_TROUBLE.test(line)) ??
      lines.findLast((line) => line.trim() !== ""));
  return telling === undefined || telling.trim() === "" ? {} : { evidence: telling.trim() };
}

/** The accesses to a file. */
export interface FileState {
  readonly path: string;
  readonly reads: number;
  readonly changes: number;
  /** True if the first change seems to have created the file. */
  readonly isNew: boolean;
  readonly lastRange?: LineRange | undefined;
  /** The last failed change, if no later one succeeded. */
  readonly failedAt?: string | undefined;
  readonly changedAt?: string | undefined;
  readonly lastSource: SourceMessage;
}

/** The files of a conversation with their last state, ordered by last access. */
export function collectFileStates(actions: readonly Action[]): readonly FileState[] {
  const files = new Map<string, FileState>();
  for (const action of actions) {
    for (const { kind, path, range } of findTouches(action.call)) {
      if (path === undefined || path === "" || kind === "run") continue;
      const before = files.get(path);
      const told = action.result?.told ?? action.source;
      const { kind: ended } = detectOutcome(action.result?.part, false);
      const isFailed = ended === "failed" || ended === "refused";
      if (kind === "read" && isFailed) continue;
      files.delete(path);
      files.set(path, applyAccess(before, { path, kind, range, isFailed, source: told }));
    }
  }
  return [...files.values()];
}

interface FileAccess {
  readonly path: string;
  readonly kind: "read" | "write" | "edit";
  readonly range: LineRange | undefined;
  readonly isFailed: boolean;
  readonly source: SourceMessage;
}

function applyAccess(
  before: FileState | undefined,
  { path, kind, range, isFailed, source: told }: FileAccess,
): FileState {
  const state = before ?? { path, reads: 0, changes: 0, isNew: false, lastSource: told };
  if (kind === "read") return { ...state, reads: state.reads + 1, lastRange: range, lastSource: told };
  if (isFailed) return { ...state, failedAt: citeOf(told), lastSource: told };
  const isNew = state.isNew || (kind === "write" && state.reads === 0 && state.changes === 0);
  return {
    ...state,
    changes: state.changes + 1,
    isNew,
    changedAt: citeOf(told),
    failedAt: undefined,
    lastSource: told,
  };
}

/** Describes a file's state in words. */
export function describeFile({
  path,
  reads,
  changes,
  isNew,
  lastRange,
  failedAt,
  changedAt,
}: FileState): string {
  const to = lastRange && Number.isFinite(lastRange.to) ? lastRange.to : "end";
  const said = [
    isNew ? "written" : "",
    changes > (isNew ? 1 : 0) ? `changed ×${changes - (isNew ? 1 : 0)}` : "",
    changedAt === undefined ? "" : `last ${changedAt}`,
    failedAt === undefined ? "" : `change failed at ${failedAt}`,
    reads > 0 ? `read ×${reads}${lastRange ? ` (lines ${lastRange.from}-${to})` : ""}` : "",
  ];
  return `${path}: ${said.filter(Boolean).join(", ")}`;
}
