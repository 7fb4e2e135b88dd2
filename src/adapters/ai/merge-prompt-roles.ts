import { canMergeRoles, mergeRoles } from "../../kernel/calls/merge-roles.ts";

/** An outgoing message of a window, in the caller's format. */
export interface OutgoingMessage<T> {
  readonly message: T;
  /** Index among the caller's messages, if it is one of them. */
  readonly index?: number | undefined;
  /** Position in the log; undefined for notes. */
  readonly seq?: number | undefined;
}

type Fields = { readonly [field: string]: unknown };

/** Merges messages of one format. */
export interface RoleMerger<T> {
  canMerge(first: T, second: T): boolean;
  merge(first: T, second: T): T | undefined;
}

/** The merging rules for messages of the AI SDK or of an API. */
export function createRoleMerger<T>(format: "ai-sdk" | "anthropic" | "openai-chat"): RoleMerger<T> {
  return {
    canMerge: (first, second) => canMergeRoles(format, first as Fields, second as Fields),
    merge: (first, second) => mergeRoles(format, first as Fields, second as Fields) as T | undefined,
  };
}

/**
 * Merges messages of the same role that became neighbors because a message was inserted, edited or hidden between them.
 * Consecutive messages that are also neighbors in the caller's conversation or in the log stay separate. `givenAt`
 * finds a caller's message.
 */
export function mergePromptRoles<T>(
  outgoing: readonly OutgoingMessage<T>[],
  { canMerge, merge }: RoleMerger<T>,
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
