import { type Alignment, alignWhole, samePrefix } from "../../conversation/align.ts";
import type { Role } from "../../index.ts";

/** A row of messages, as keys of what was said and by whom. */
export interface Said {
  readonly keys: readonly string[];
  readonly roles: readonly Role[];
}

/** What to do so that a line says what a request says. */
export type RequestAlignment =
  | Alignment
  /** The request says what the line says, but for the messages at `places`, and goes on where the line ends. */
  | { readonly type: "drop"; readonly places: readonly number[] };

/** What is known of the line besides what it says. */
export interface AlignHints {
  /** Places of messages that look as if they were said for one request only. */
  readonly ephemeral?: readonly number[];
}

/** More messages that vanish one by one are another conversation. */
const MOST_VANISHED = 8;
/** A run that a client cut out of the middle is believed if so many messages behind it are still there. */
const LEAST_BEHIND_CUT = 3;

/** Compares a line with a request, which holds the whole conversation as the client has it. */
export function alignRequest(line: Said, request: Said, hints: AlignHints = {}): RequestAlignment {
  const keep = samePrefix(line.keys, request.keys);
  if (keep === line.keys.length) return { type: "follow", known: keep };
  const places = vanished(line, request, keep, hints) ?? cutOut(line, request, keep);
  return places ? { type: "drop", places } : alignWhole(line.keys, request.keys);
}

/** Places of messages of users or systems that are no longer there, while everything else is. */
function vanished(line: Said, request: Said, keep: number, hints: AlignHints): number[] | undefined {
  const places: number[] = [];
  let next = keep;
  for (let at = keep; at < line.keys.length; at++) {
    if (next < request.keys.length && line.keys[at] === request.keys[next]) {
      next++;
      continue;
    }
    const role = line.roles[at];
    if ((role !== "user" && role !== "system") || places.length === MOST_VANISHED) return undefined;
    places.push(at);
  }
  const last = places.at(-1);
  if (last === undefined) return undefined;
  // A vanished end is the same as going another way there, unless it was said for one request only.
  const isAtEnd = last === line.keys.length - 1;
  return isAtEnd && !hints.ephemeral?.includes(last) ? undefined : places;
}

/** Places of a run that a client left out to make room. */
function cutOut(line: Said, request: Said, keep: number): number[] | undefined {
  if (keep === 0) return undefined;
  const wanted = request.keys[keep];
  for (let to = keep + 1; to <= line.keys.length - LEAST_BEHIND_CUT; to++) {
    if (line.keys[to] !== wanted) continue;
    const isSame = line.keys.slice(to).every((key, index) => key === request.keys[keep + index]);
    if (isSame) return Array.from({ length: to - keep }, (_, index) => keep + index);
  }
  return undefined;
}
