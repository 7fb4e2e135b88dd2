import { definedFields, objectOf, textOf } from "../content/fields.ts";
import { parseJson } from "../reading/parse-json.ts";

/** First line of a session file. */
export interface PiHeader {
  readonly id: string;
  readonly cwd?: string;
  /** Path of the parent session or the origin of a fork. */
  readonly parentSession?: string;
}

/** Parses the header from the beginning of a session file; undefined if it is not pi's. */
export function headerOf(head: string): PiHeader | undefined {
  const end = head.indexOf("\n");
  const line = (end < 0 ? head : head.slice(0, end)).trim();
  if (!line.startsWith("{") || !line.includes('"session"')) return undefined;
  let header: ReturnType<typeof objectOf>;
  try {
    header = objectOf(parseJson(line));
  } catch {
    return undefined;
  }
  const id = textOf(header?.id);
  if (header?.type !== "session" || id === undefined || textOf(header.timestamp) === undefined)
    return undefined;
  const cwd = textOf(header.cwd);
  const parentSession = textOf(header.parentSession) ?? textOf(header.branchedFrom);
  return { id, ...definedFields({ cwd, parentSession }) };
}
