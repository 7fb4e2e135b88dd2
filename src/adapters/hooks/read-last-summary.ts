import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { toObject } from "../../wire/fields.ts";

/** The end of a transcript in which the summary of a compaction just made is looked for. */
const TAIL_BYTES = 512 * 1_024;

/** The text of the newest summary in a transcript's end; empty if there is none or the file cannot be read. */
export function readLastSummary(path: string): string {
  try {
    const lines = readTail(path).split("\n").toReversed();
    for (const line of lines) {
      if (!line.includes("isCompactSummary") && !line.includes('"compacted"')) continue;
      const record = toObject(JSON.parse(line));
      const payload = toObject(record?.payload);
      const content = toObject(record?.message)?.content ?? payload?.message;
      if (record?.isCompactSummary === true || record?.type === "compacted")
        return typeof content === "string" ? content : JSON.stringify(content ?? "");
    }
  } catch {
    // Without the summary, facts that it has may be given again.
  }
  return "";
}

function readTail(path: string): string {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
    readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString("utf8");
  } finally {
    closeSync(file);
  }
}
