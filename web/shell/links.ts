import { buildPath } from "./match-path.ts";

/** The address of a conversation. */
export function linkToSession(id: string): string {
  return buildPath("/sessions/:id", { id });
}

/** The address of an entry in its conversation: the page opens there and marks it. */
export function linkToEntry(id: string, seq: number): string {
  return `${linkToSession(id)}?entry=${seq}`;
}

/** The address of an entry by its id, which ends in "#" and the number. */
export function linkToEntryId(id: string): string {
  const mark = id.lastIndexOf("#");
  return linkToEntry(id.slice(0, mark), Number(id.slice(mark + 1)));
}

/** The address of the window of a conversation. */
export function linkToWindow(id: string): string {
  return buildPath("/sessions/:id/window", { id });
}

/** The address of the conversations behind a sum of money. */
export function linkToSpending(filter: Readonly<Record<string, string | undefined>>): string {
  const pairs = Object.entries(filter).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  const text = new URLSearchParams(pairs).toString();
  return `/spending${text && `?${text}`}`;
}
