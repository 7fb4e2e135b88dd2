/** Stands in for the result of a call that got none, where a request without one would be refused. Left out on import. */
export const NO_RESULT = "[no result recorded]";

/** Begins the output of a failed tool where a format has no field for failure. Taken off on import. */
export const TOOL_ERROR = "[tool error]";

/** The text of a failed tool's output, marked as such. */
export function withErrorMark(text: string): string {
  return `${TOOL_ERROR}\n${text}`;
}

/** The text without its mark; undefined if it carries none. */
export function withoutErrorMark(text: string): string | undefined {
  if (text === TOOL_ERROR) return "";
  return text.startsWith(`${TOOL_ERROR}\n`) ? text.slice(TOOL_ERROR.length + 1) : undefined;
}
