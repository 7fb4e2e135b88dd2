import type { ToolResultPart } from "../../model/part.ts";
import { getResultText } from "./actions.ts";

/** The outcome of a call, judging by its result. */
export interface Outcome {
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
export function detectOutcome(result: ToolResultPart | undefined, isCommand: boolean): Outcome {
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
    ...(exitCode !== undefined && { exitCode }),
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
