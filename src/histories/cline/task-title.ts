import { clipEnd } from "../../model/base/clip-end.ts";
import { toText } from "../../wire/fields.ts";
import { toContentBlocks } from "../deduplication/text-pieces.ts";

const MAX_LENGTH = 200;

/** Makes a title from the person's first request, as shown or else as sent. */
export function buildTaskTitle(shown: unknown, sent: unknown): string | undefined {
  const text = toText(shown) ?? toText(toContentBlocks(sent)[0]?.text);
  const task = /^<task>([\s\S]*?)<\/task>/.exec(text ?? "")?.[1] ?? text;
  const line = task?.trim().split("\n", 1)[0]?.trim();
  return line ? clipEnd(line, MAX_LENGTH) : undefined;
}
