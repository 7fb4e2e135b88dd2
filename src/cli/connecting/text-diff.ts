/** Lines of context around a change. */
const CONTEXT = 2;
/** Above this number of compared pairs, the changed middle is shown as a whole. */
const MAX_PAIRS = 4_000_000;

/** One line of a diff: kept, added or removed. */
export interface DiffLine {
  readonly mark: " " | "+" | "-" | "@";
  readonly text: string;
}

/** Compares two texts by line; stretches without a change are left out, each marked with the number of its next line. */
export function diffText(before: string, after: string): readonly DiffLine[] {
  const [old, next] = [splitLines(before), splitLines(after)];
  let start = 0;
  while (start < old.length && start < next.length && old[start] === next[start]) start++;
  let end = 0;
  while (end < old.length - start && end < next.length - start && old.at(-1 - end) === next.at(-1 - end))
    end++;
  const middle = diffMiddle(old.slice(start, old.length - end), next.slice(start, next.length - end));
  const keep = (text: string): DiffLine => ({ mark: " ", text });
  const all = [...old.slice(0, start).map(keep), ...middle, ...old.slice(old.length - end).map(keep)];
  return selectHunks(all);
}

function splitLines(text: string): readonly string[] {
  if (text === "") return [];
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

function diffMiddle(old: readonly string[], next: readonly string[]): readonly DiffLine[] {
  const remove = (text: string): DiffLine => ({ mark: "-", text });
  const add = (text: string): DiffLine => ({ mark: "+", text });
  if (old.length * next.length > MAX_PAIRS) return [...old.map(remove), ...next.map(add)];
  const width = next.length + 1;
  const common = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = next.length - 1; j >= 0; j--)
      common[i * width + j] =
        old[i] === next[j]
          ? (common[(i + 1) * width + j + 1] as number) + 1
          : Math.max(common[(i + 1) * width + j] as number, common[i * width + j + 1] as number);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < next.length) {
    if (i < old.length && j < next.length && old[i] === next[j]) {
      lines.push({ mark: " ", text: old[i] as string });
      i++;
      j++;
    } else if (
      i < old.length &&
      (j >= next.length || (common[(i + 1) * width + j] as number) >= (common[i * width + j + 1] as number))
    )
      lines.push(remove(old[i++] as string));
    else lines.push(add(next[j++] as string));
  }
  return lines;
}

function selectHunks(lines: readonly DiffLine[]): readonly DiffLine[] {
  const isShown = lines.map((_, index) =>
    lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(({ mark }) => mark !== " "),
  );
  const shown: DiffLine[] = [];
  let number = 0;
  for (const [index, line] of lines.entries()) {
    if (line.mark !== "+") number++;
    if (!isShown[index]) continue;
    if (index > 0 && !isShown[index - 1])
      shown.push({ mark: "@", text: `line ${line.mark === "+" ? number + 1 : number}` });
    shown.push(line);
  }
  return shown;
}
