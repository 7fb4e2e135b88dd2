import type { CommonValues } from "./command.ts";
import type { Context } from "./context.ts";
import { makePaint, type Paint, wantsColor } from "./paint.ts";

/** Returns the paint for stdout or stderr. */
export function paintFor(
  context: Context,
  options: CommonValues,
  stream: "stdout" | "stderr" = "stdout",
): Paint {
  return makePaint(wantsColor(context.env, context.isTerminal[stream], options["no-color"] === true));
}
