/** A line of a diff. */
export interface DiffLine {
  readonly type: "same" | "added" | "removed" | "head";
  readonly text: string;
}

/** Larger texts are shown one after the other: comparing them line by line would block the page. */
const MAX_CELLS = 1_000_000;

/** Compares two texts line by line. */
export function diffTexts(before: string, after: string): readonly DiffLine[] {
  const old = before === "" ? [] : before.split("\n");
  const now = after === "" ? [] : after.split("\n");
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (
    end < old.length - start &&
    end < now.length - start &&
    old[old.length - 1 - end] === now[now.length - 1 - end]
  )
    end++;
  return [
    ...toLines("same", old.slice(0, start)),
    ...diffMiddle(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...toLines("same", old.slice(old.length - end)),
  ];
}

function diffMiddle(old: readonly string[], now: readonly string[]): readonly DiffLine[] {
  if (old.length * now.length > MAX_CELLS) return [...toLines("removed", old), ...toLines("added", now)];
  const width = now.length + 1;
  // lengths[i * width + j]: length of the longest common subsequence of old from i and now from j.
  const lengths = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        old[i] === now[j]
          ? (lengths[(i + 1) * width + j + 1] as number) + 1
          : Math.max(lengths[(i + 1) * width + j] as number, lengths[i * width + j + 1] as number);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push({ type: "same", text: old[i] as string });
      i++;
      j++;
    } else if (
      j >= now.length ||
      (i < old.length && (lengths[(i + 1) * width + j] as number) >= (lengths[i * width + j + 1] as number))
    )
      lines.push({ type: "removed", text: old[i++] as string });
    else lines.push({ type: "added", text: now[j++] as string });
  }
  return lines;
}

function toLines(type: DiffLine["type"], texts: readonly string[]): readonly DiffLine[] {
  return texts.map((text) => ({ type, text }));
}

const HUNK = /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/m;
const PATCH = /^\*\*\* Begin Patch/m;

/** True if a text is a diff: a unified one, or a patch of apply_patch. */
export function isDiff(text: string): boolean {
  return PATCH.test(text) || (HUNK.test(text) && /^(?:---|\+\+\+|diff |Index: )/m.test(text));
}

const HEAD_LINE =
  /^(?:diff |index |--- |\+\+\+ |@@|\*\*\* |Index: |new file|deleted file|similarity|rename )/;

/** Splits the text of a diff into its lines. */
export function parseDiff(text: string): readonly DiffLine[] {
  return text.split("\n").map((line): DiffLine => {
    if (HEAD_LINE.test(line)) return { type: "head", text: line };
    if (line.startsWith("+")) return { type: "added", text: line.slice(1) };
    if (line.startsWith("-")) return { type: "removed", text: line.slice(1) };
    return { type: "same", text: line.startsWith(" ") ? line.slice(1) : line };
  });
}

/** A change of a file in the input of a tool call: its diff, and the name of the file if there is one. */
export interface InputDiff {
  readonly file: string | undefined;
  readonly lines: readonly DiffLine[];
}

const OLD_NAMES = ["old_string", "oldText", "old_str", "oldString", "search"];
const NEW_NAMES = ["new_string", "newText", "new_str", "newString", "replace"];
const FILE_NAMES = ["file_path", "filePath", "path", "file", "filename"];
const PATCH_NAMES = ["patch", "diff", "input"];

/** Finds the diffs in the input of a tool call: pairs of old and new text, or a patch. */
export function findDiffs(input: unknown): readonly InputDiff[] {
  if (typeof input === "string") return isDiff(input) ? [{ file: undefined, lines: parseDiff(input) }] : [];
  if (typeof input !== "object" || input === null) return [];
  const fields = input as Readonly<Record<string, unknown>>;
  const file = pickText(fields, FILE_NAMES);
  const edits = Array.isArray(fields.edits) ? (fields.edits as readonly unknown[]) : [fields];
  const pairs = edits.flatMap((edit) => {
    if (typeof edit !== "object" || edit === null) return [];
    const before = pickText(edit as Readonly<Record<string, unknown>>, OLD_NAMES);
    const after = pickText(edit as Readonly<Record<string, unknown>>, NEW_NAMES);
    return before === undefined || after === undefined ? [] : [{ file, lines: diffTexts(before, after) }];
  });
  if (pairs.length > 0) return pairs;
  const patch = pickText(fields, PATCH_NAMES);
  return patch !== undefined && isDiff(patch) ? [{ file, lines: parseDiff(patch) }] : [];
}

function pickText(fields: Readonly<Record<string, unknown>>, names: readonly string[]): string | undefined {
  return names.map((name) => fields[name]).find((value) => typeof value === "string");
}
