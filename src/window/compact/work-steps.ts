import { clipEnd } from "../../model/base/clip-end.ts";
import type { EntryId } from "../../model/entry.ts";
import { type Commit, findCommitCommand, parseCommit } from "../effects/commit.ts";
import { findTouches } from "../effects/find-touches.ts";
import { listChanges } from "../effects/list-changes.ts";
import {
  type Action,
  collectActions,
  collectRuns,
  getResultText,
  normalizeCommand,
} from "./extractive/actions.ts";
import type { SourceMessage } from "./extractive/summary-candidate.ts";
import { collectRequests } from "./extractive/user-request.ts";

/** A request of a person, in their own words. */
interface WorkRequest {
  readonly entry: EntryId;
  readonly at: number;
  readonly text: string;
}

/** A tool call that changed a file or ran a command, with its outcome. */
export interface WorkStep {
  readonly entry: EntryId;
  readonly seq: number;
  readonly at: number;
  /** The entry with the output; that of the call if there is none yet. */
  readonly result: EntryId;
  readonly kind: "edit" | "command";
  /** The files that an edit changed; none for a command. */
  readonly paths: readonly string[];
  /** The command, or the first changed lines of an edit. */
  readonly text: string;
  /** The command without its folder and the filters on its output; empty for an edit. */
  readonly key: string;
  readonly isFailed: boolean;
  /** Lines of the output that tell of trouble, even if the command succeeded. */
  readonly troubles: readonly string[];
  readonly request: WorkRequest | undefined;
  /** The commit that this command made. */
  readonly commit: Commit | undefined;
}

const MAX_TEXT = 300;
const MAX_REQUEST = 400;
export const MAX_LINE = 400;
/** An output with this many lines of trouble may have more. */
export const MAX_TROUBLES = 40;
const MAX_SCANNED = 60_000;
const TROUBLE =
  /\b(?:errors?|exception|panic|fatal|traceback|undefined|cannot|can['’]t|could not|fail(?:s|ed|ure|ing)?|expected|not found|unexpected|unknown|missing|unused|invalid|denied|unable|mismatch|refused|timed out|no such)\b|Error\b|Exception\b|\.\w+[:(]\d+[:,]\d+|错误|失败|異常/i;
/** Counts, headings and lines of success, which say nothing about the cause. */
const NO_TROUBLE =
  /^(?:\d+ (?:passed|failed)|Tests?\b|Test (?:Suites|Files)|error: script|exit (?:code|status)|ok\s|✓|√|PASS)|\b0 (?:errors|failed)/i;

/** The changes and commands of a conversation, in order. */
export function listWorkSteps(messages: readonly SourceMessage[]): readonly WorkStep[] {
  const actions = collectActions(messages);
  const failed = new Set(
    collectRuns(actions)
      .filter(({ outcome }) => outcome.kind === "failed" || outcome.kind === "refused")
      .map(({ action }) => action),
  );
  const requests = collectRequests(messages);
  let next = 0;
  return actions.flatMap((action): readonly WorkStep[] => {
    while (requests[next] && (requests[next]?.source.seq ?? 0) <= action.source.seq) next++;
    const asked = requests[next - 1];
    const step = describeAction(action);
    if (!step) return [];
    const { seq, at, cite = "" } = action.source;
    return [
      {
        ...step,
        entry: cite as EntryId,
        seq,
        at,
        result: (action.result?.told.cite ?? cite) as EntryId,
        isFailed: failed.has(action),
        request: asked && {
          entry: (asked.source.cite ?? "") as EntryId,
          at: asked.source.at,
          text: asked.text.slice(0, MAX_REQUEST),
        },
      },
    ];
  });
}

function describeAction({
  call,
  result,
}: Action): Pick<WorkStep, "kind" | "paths" | "text" | "key" | "troubles" | "commit"> | undefined {
  const touches = findTouches(call);
  const output = result ? getResultText(result.part) : "";
  const paths = touches.flatMap(({ kind, path }) =>
    path !== undefined && (kind === "edit" || kind === "write") ? [path] : [],
  );
  if (paths.length > 0) {
    const [change] = listChanges(call);
    const text = clipEnd(firstChangedLines(change?.before ?? "", change?.after ?? ""), MAX_TEXT);
    return { kind: "edit", paths, text, key: "", troubles: [], commit: undefined };
  }
  const command = touches.find(({ kind }) => kind === "run")?.command;
  if (command === undefined) return undefined;
  const committing = findCommitCommand(call);
  return {
    kind: "command",
    paths: [],
    text: clipEnd(command, MAX_TEXT),
    key: normalizeCommand(command).slice(0, MAX_TEXT),
    troubles: findTroubles(output),
    commit: committing === undefined ? undefined : parseCommit(committing, output),
  };
}

/** The lines that an edit adds, without those that it keeps. */
function firstChangedLines(before: string, after: string): string {
  const old = new Set(before.split("\n").map((line) => line.trim()));
  const added = after.split("\n").filter((line) => line.trim() !== "" && !old.has(line.trim()));
  return (added.length > 0 ? added : after.split("\n")).slice(0, 6).join("\n");
}

/** The lines of an output that tell of an error. */
export function findTroubles(output: string): readonly string[] {
  const scanned =
    output.length > 2 * MAX_SCANNED
      ? `${output.slice(0, MAX_SCANNED)}\n${output.slice(-MAX_SCANNED)}`
      : output;
  const lines = new Set<string>();
  for (const raw of scanned.split("\n")) {
    const line = raw.trim();
    if (line.length < 12 || line.length > MAX_LINE || !TROUBLE.test(line) || NO_TROUBLE.test(line)) continue;
    lines.add(line);
    if (lines.size === MAX_TROUBLES) break;
  }
  return [...lines];
}
