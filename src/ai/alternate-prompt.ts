import { canMergeRoles, mergeRoles } from "../formats/writing/merge-roles.ts";

/** A message of a window on its way out, in the caller's format. */
export interface OutgoingMessage<T> {
  readonly message: T;
  /** Its place among the caller's messages, if it is one of them. */
  readonly index?: number | undefined;
  /** Its place in the log; undefined for notes. */
  readonly seq?: number | undefined;
}

type Fields = { readonly [field: string]: unknown };

/** How messages of one format are merged. */
export interface RoleMerging<T> {
  canMerge(first: T, second: T): boolean;
  merge(first: T, second: T): T | undefined;
}

/** Merges messages of the AI SDK or of an API. */
export function roleMerging<T>(format: "ai-sdk" | "anthropic" | "openai-chat"): RoleMerging<T> {
  return {
    canMerge: (first, second) => canMergeRoles(format, first as Fields, second as Fields),
    merge: (first, second) => mergeRoles(format, first as Fields, second as Fields) as T | undefined,
  };
}

/**
 * Merges messages of one role that became neighbours because something was inserted, edited or hidden between them.
 * Messages that the caller itself has in a row, or the log, stay as they are. `givenAt` finds a caller's message.
 */
export function alternatePrompt<T>(
  outgoing: readonly OutgoingMessage<T>[],
  { canMerge, merge }: RoleMerging<T>,
  givenAt: (index: number) => T | undefined,
): readonly T[] {
  const isRepeatOfCaller = (last: OutgoingMessage<T>, next: OutgoingMessage<T>) => {
    if (last.index === undefined || next.index === undefined)
      return last.seq !== undefined && next.seq !== undefined && next.seq === last.seq + 1;
    const [before, after] = [givenAt(last.index), givenAt(next.index)];
    return (
      next.index === last.index + 1 && before !== undefined && after !== undefined && canMerge(before, after)
    );
  };
  const merged: OutgoingMessage<T>[] = [];
  for (const next of outgoing) {
    const last = merged.at(-1);
    const message = last && !isRepeatOfCaller(last, next) ? merge(last.message, next.message) : undefined;
    if (message !== undefined) merged[merged.length - 1] = { ...next, message };
    else merged.push(next);
  }
  return merged.map(({ message }) => message);
}
