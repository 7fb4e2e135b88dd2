/** The message of an error, even if it cannot be converted to a string. */
export function toErrorMessage(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return "an error that cannot be put into words";
  }
}
