import { findTouches } from "../../touch/find-touches.ts";
import type { Action } from "./actions.ts";
import { detectOutcome, type Outcome } from "./detect-outcome.ts";

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
  return command
    .replace(/^\s*cd\s+\S+\s*(?:&&|;)\s*/, "")
    .replace(/\s*\|\s*(?:head|tail|grep|less|cat|sed -n)\b[^|&;]*/g, "")
    .replace(/\s*2>(?:&1|\s*\/dev\/null)/g, "")
    .replace(/\s*;?\s*echo\s+["']?(?:exit|EXIT)\S*\s*\$\?["']?\s*$/, "")
    .replace(/\s+/g, " ")
    .trim();
}
