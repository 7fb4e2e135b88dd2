/** Placeholder result for a call without one, where a request requires it. Removed on import. */
export const NO_RESULT = "[no result recorded]";

/** Prefix of a failed tool's output in formats without a field for failure. Removed on import. */
export const TOOL_ERROR = "[tool error]";

/** Marks the output of a failed tool. */
export function withErrorMark(text: string): string {
  return `${TOOL_ERROR}\n${text}`;
}

/** Removes the mark; undefined if there is none. */
export function withoutErrorMark(text: string): string | undefined {
  if (text === TOOL_ERROR) return "";
  return text.startsWith(`${TOOL_ERROR}\n`) ? text.slice(TOOL_ERROR.length + 1) : undefined;
}
