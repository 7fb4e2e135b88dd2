import { parseJson } from "../../model/base/parse-json.ts";
import { dropUndefined, toObject, toText } from "../../wire/fields.ts";

/** First line of a session file. */
export interface PiHeader {
  readonly id: string;
  readonly cwd?: string;
  /** Path of the parent session or the origin of a fork. */
  readonly parentSession?: string;
}

/** Parses the header from the beginning of a session file; undefined if it is not pi's. */
export function parsePiHeader(head: string): PiHeader | undefined {
  const end = head.indexOf("\n");
  const line = (end < 0 ? head : head.slice(0, end)).trim();
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
