/** Quotes a text as one word for a POSIX shell. */
export function quoteShellWord(text: string): string {
  return /^[\w@%+=:,./#-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
