/** Colors, cursor movements, titles and other control sequences of terminals. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
const CODES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

/** The line as a terminal would show it: without control sequences, and only the last state of a progress display. */
export function stripTerminalCodes(line: string): string {
  const plain = line.includes("\u001b") ? line.replace(CODES, "") : line;
  const end = plain.endsWith("\r") ? plain.length - 1 : plain.length;
  const last = plain.lastIndexOf("\r", end - 1);
  return last < 0 || end === 0 ? plain : plain.slice(last + 1);
}
