/** The model APIs, by the names of the scripted upstream. */
export type ApiName = "anthropic" | "openai-chat" | "openai-responses" | "google";

/** Folders of an agent; everything it may find or leave behind is below them. */
export interface Place {
  readonly home: string;
  readonly project: string;
}

/** Target address and installation of an agent. */
export interface Pointed extends Place {
  /** Address without a path. */
  readonly url: string;
  readonly api: ApiName;
  /** The folder with its installed package. */
  readonly installed: string;
}

/** A program to start. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  /** Added to the environment that all agents get. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A model client under test. */
export interface Agent {
  readonly name: string;
  readonly packageName: string;
  readonly version: string;
  /** Further packages it needs, each as name@version. */
  readonly alongside?: readonly string[];
  readonly apis: readonly ApiName[];
  /** Configuration files below the home folder that point it at the address. */
  files(pointed: Pointed): Readonly<Record<string, string>>;
  /**
   * The command of a turn; later turns continue the same conversation. Undefined if there is no
   * program for this platform.
   */
  command(pointed: Pointed, prompt: string, isFirst: boolean): Command | undefined;
  /** Extracts its final answer from its output. */
  answer(stdout: string): string;
}

/** The model name of all agents that accept any name. */
export const MODEL = "scripted-model";
/** The context window that agents are configured with. */
export const WINDOW = 200_000;
/** The API key that agents send. */
export const KEY = "sk-scripted-key";

/** Removes terminal colors from a text. */
export function withoutColours(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: color codes start with the escape character
  return text.replace(/\x1b\[[0-9;]*m/g, "");
}

/** The last non-empty line, without colors. */
export function lastLine(stdout: string): string {
  const lines = withoutColours(stdout).split("\n");
  return lines.findLast((line) => line.trim() !== "")?.trim() ?? "";
}

/** The parsed lines of a program that prints one JSON value per line; other lines are skipped. */
export function jsonLines(stdout: string): readonly Readonly<Record<string, unknown>>[] {
  return stdout.split("\n").flatMap((line) => {
    try {
      return line.startsWith("{") ? [JSON.parse(line) as Readonly<Record<string, unknown>>] : [];
    } catch {
      return [];
    }
  });
}
