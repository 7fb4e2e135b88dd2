import { styleText } from "node:util";

export type Look = "bold" | "dim" | "red" | "green" | "yellow" | "blue" | "magenta" | "cyan";

/** Styles a text, or returns it plain. */
export type Paint = (look: Look, text: string) => string;

/** Never styles. */
export const plainPaint: Paint = (_, text) => text;

/** Creates a paint that styles, or the plain one. */
export function createPaint(isColored: boolean): Paint {
  return isColored ? (look, text) => styleText(look, text, { validateStream: false }) : plainPaint;
}

/**
 * Decides whether to use color: --no-color first, then FORCE_COLOR over NO_COLOR as in Node itself, else the terminal.
 */
export function isColorWanted(
  env: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
  isRefused: boolean,
): boolean {
  if (isRefused) return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== "0" && env.FORCE_COLOR !== "false";
  if (env.NO_COLOR) return false;
  return isTerminal && env.TERM !== "dumb";
}
