import { isDeepStrictEqual } from "node:util";
import type { Setting } from "./agents/agent-connector.ts";
import type { SettingChange } from "./connection-record.ts";
import type { ConfigSyntax, SettingPath } from "./syntax/config-syntax.ts";

/** A text after some settings were set. */
interface ChangedText {
  readonly text: string;
  /** Settings whose value changed. */
  readonly changes: readonly SettingChange[];
}

/** Sets settings in a text; settings that already have the value are not changes. */
export function applySettings(syntax: ConfigSyntax, text: string, settings: readonly Setting[]): ChangedText {
  const changes: SettingChange[] = [];
  let changed = text;
  for (const { path, value } of settings) {
    const after = syntax.encode(value);
    const before = syntax.findRaw(changed, path);
    if (before === after || (typeof value === "string" && syntax.findString(changed, path) === value))
      continue;
    // Compared with the original text, because a parent that an earlier setting created is ours too.
    const existingNames = countExisting(syntax, text, path);
    changed = syntax.setRaw(changed, path, after);
    changes.push({ path: [...path], before: before ?? null, after, existingNames });
  }
  return { text: changed, changes };
}

/** A text after changes were undone. */
interface UndoneText {
  readonly text: string;
  /** Settings that the user has changed or removed since; they stay. */
  readonly kept: readonly SettingChange[];
}

/** Undoes changes in a text that may have changed since: only values that are still ours are restored or removed. */
export function undoChanges(
  syntax: ConfigSyntax,
  text: string,
  changes: readonly SettingChange[],
): UndoneText {
  const kept: SettingChange[] = [];
  let undone = text;
  for (const change of changes.toReversed()) {
    const { path, before, after, existingNames } = change;
    if (!isSameValue(syntax.findRaw(undone, path), after)) {
      kept.push(change);
      continue;
    }
    if (before !== null) {
      undone = syntax.setRaw(undone, path, before);
      continue;
    }
    undone = syntax.remove(undone, path);
    for (let length = path.length - 1; length > existingNames; length--) {
      const parent = path.slice(0, length);
      if (syntax.findRaw(undone, parent) === undefined || syntax.listNames(undone, parent).length > 0) break;
      undone = syntax.remove(undone, parent);
    }
  }
  return { text: undone, kept };
}

/** True for the same source text, or the same JSON: some agents write their files again in their own layout. */
function isSameValue(raw: string | undefined, other: string): boolean {
  if (raw === undefined || raw === other) return raw === other;
  try {
    return isDeepStrictEqual(JSON.parse(raw), JSON.parse(other));
  } catch {
    return false;
  }
}

function countExisting(syntax: ConfigSyntax, text: string, path: SettingPath): number {
  let count = 0;
  while (count < path.length && syntax.listNames(text, path.slice(0, count)).includes(path[count] as string))
    count++;
  return count;
}
