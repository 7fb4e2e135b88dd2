/** What an error says; also of one that cannot be put into words. */
export function wordsOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return "an error that cannot be put into words";
  }
}
