import { checkFields } from "../model/argument-checks.ts";
import { checkDeparture, type LineDeparture } from "../model/entry.ts";

/** Options of a change of the line. */
export interface LineOptions {
  /**
   * Why entries leave the line. "taken-back" (default, except for `setLine`): recall no longer finds them. "trimmed": they
   * only left to save room, and recall finds them. "branched": they are on another branch, and recall finds them too, but
   * not automatic context.
   */
  readonly departure?: LineDeparture;
}

/** Returns the departure of the options, if they name one. */
export function checkLineOptions(options: LineOptions): LineOptions {
  const { departure } = checkFields("options", options);
  return departure === undefined ? {} : { departure: checkDeparture(departure) };
}
