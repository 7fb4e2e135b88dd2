/** Names of nested settings, outermost first. */
export type SettingPath = readonly string[];

/** A value that a configuration file can hold. */
export type SettingValue =
  | string
  | number
  | boolean
  | readonly SettingValue[]
  | { readonly [name: string]: SettingValue };

/**
 * Reads and edits the text of a configuration file. Edits change only the named setting: comments, order, indentation
 * and line ends stay. Every function throws ConfigSyntaxError if the text is damaged or uses a form that it cannot edit.
 */
export interface ConfigSyntax {
  readonly name: string;
  /** The source text of a value; undefined if the setting is absent. */
  findRaw(text: string, path: SettingPath): string | undefined;
  /** The value if it is a string; undefined otherwise. */
  findString(text: string, path: SettingPath): string | undefined;
  /** The names inside an object or table; none if it is absent. */
  listNames(text: string, path: SettingPath): readonly string[];
  /** Adds or replaces a setting, given as source text; missing parents are created. */
  setRaw(text: string, path: SettingPath, raw: string): string;
  /** Removes a setting; a parent stays, even if it is empty then. */
  remove(text: string, path: SettingPath): string;
  /** Writes a value as source text. */
  encode(value: SettingValue): string;
}

/** The text cannot be read or edited; the message names the line. */
export class ConfigSyntaxError extends Error {
  constructor(text: string, at: number, problem: string) {
    super(`line ${text.slice(0, at).split("\n").length}: ${problem}`);
    this.name = "ConfigSyntaxError";
  }
}

/** The line end that a text uses. */
export function findLineEnd(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

/** The white space at the beginning of the line that contains a position. */
export function findIndent(text: string, at: number): string {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, at))?.[0] ?? "";
}

export function isSamePath(one: SettingPath, other: SettingPath): boolean {
  return one.length === other.length && one.every((name, index) => name === other[index]);
}
