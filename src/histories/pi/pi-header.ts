import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { parseJson } from "../../model/base/parse-json.ts";
import { toObject, toText } from "../../wire/fields.ts";

/** First line of a session file. */
export interface PiHeader {
  readonly id: string;
  readonly cwd?: string;
  /** Path of the parent session or the origin of a fork. */
  readonly parentSession?: string;
}

/** Parses the header from the beginning of a session file; undefined if it is not pi's. */
export function parsePiHeader(head: string): PiHeader | undefined {
  const [first = "", second = ""] = head.split("\n", 2);
  // oh-my-pi keeps the title, which it rewrites in place, before the header.
  const line = (/^\{"type": ?"title"/.test(first) ? second : first).trim();
  if (!line.startsWith("{") || !line.includes('"session"')) return undefined;
  let header: ReturnType<typeof toObject>;
  try {
    header = toObject(parseJson(line));
  } catch {
    return undefined;
  }
  const id = toText(header?.id);
  if (header?.type !== "session" || id === undefined || toText(header.timestamp) === undefined)
    return undefined;
  const cwd = toText(header.cwd);
  const parentSession = toText(header.parentSession) ?? toText(header.branchedFrom);
  return { id, ...dropUndefined({ cwd, parentSession }) };
}
