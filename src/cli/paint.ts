import { styleText } from "node:util";

/** The looks we use. */
export type Look = "bold" | "dim" | "red" | "green" | "yellow" | "blue" | "magenta" | "cyan";

/** Gives a text a look, or leaves it plain. */
export type Paint = (look: Look, text: string) => string;

/** Leaves everything plain. */
export const plain: Paint = (_, text) => text;

/** A paint that colours, or one that does not. */
export function makePaint(isColored: boolean): Paint {
  return isColored ? (look, text) => styleText(look, text, { validateStream: false }) : plain;
}

/** Whether to colour: FORCE_COLOR counts more than NO_COLOR, as in Node itself; else it depends on the terminal. */
export function wantsColor(
  env: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
  isRefused: boolean,
): boolean {
  if (isRefused) return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== "0" && env.FORCE_COLOR !== "false";
  if (env.NO_COLOR) return false;
  return isTerminal && env.TERM !== "dumb";
}
