import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { createPaint, isColorWanted, type Paint } from "./paint.ts";

/** Returns the paint for stdout or stderr. */
export function choosePaint(
  context: CliContext,
  options: CommonValues,
  stream: "stdout" | "stderr" = "stdout",
): Paint {
  return createPaint(isColorWanted(context.env, context.isTerminal[stream], options["no-color"] === true));
}
