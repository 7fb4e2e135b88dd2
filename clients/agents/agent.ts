/** The APIs of models, as the scripted upstream names them. */
export type ApiName = "anthropic" | "openai-chat" | "openai-responses";

/** Where an agent runs: everything that it may find or leave behind is below these folders. */
export interface Place {
  readonly home: string;
  readonly project: string;
}

/** What an agent is pointed at, and where its program lies. */
export interface Pointed extends Place {
  /** Address without a path. */
  readonly url: string;
  readonly api: ApiName;
  /** The folder into which its package was installed. */
  readonly installed: string;
}

/** A program to start. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  /** On top of the environment that all agents get. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A client of models that people use, as it is run here. */
export interface Agent {
  readonly name: string;
  readonly packageName: string;
  readonly version: string;
  /** More packages that it needs, each as name@version. */
  readonly alongside?: readonly string[];
  readonly apis: readonly ApiName[];
  /** Files below the home folder that point it at the address. */
  files(pointed: Pointed): Readonly<Record<string, string>>;
  /** Starts a turn; turns after the first go on with the same conversation. Undefined if there is no program for this machine. */
  command(pointed: Pointed, prompt: string, isFirst: boolean): Command | undefined;
  /** Its final answer, from what it printed. */
  answer(stdout: string): string;
}

/** The model that all agents ask for, where they take any name. */
export const MODEL = "scripted-model";
/** The window that agents are told that it has. */
export const WINDOW = 200_000;
/** The key that they send. */
export const KEY = "sk-scripted-key";

/** A text as it is without a terminal's colours. */
export function withoutColours(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with the escape character
  return text.replace(/\x1b\[[0-9;]*m/g, "");
}

/** The last line that is not empty, without colours. */
export function lastLine(stdout: string): string {
  const lines = withoutColours(stdout).split("\n");
  return lines.findLast((line) => line.trim() !== "")?.trim() ?? "";
}

/** The lines of a program that prints one JSON value a line; others are left out. */
export function jsonLines(stdout: string): readonly Readonly<Record<string, unknown>>[] {
  return stdout.split("\n").flatMap((line) => {
    try {
      return line.startsWith("{") ? [JSON.parse(line) as Readonly<Record<string, unknown>>] : [];
    } catch {
      return [];
    }
  });
}
