import type { LineRange } from "./line-range.ts";

/** The effect of a tool call: it read, wrote or edited a file, or ran a command. */
export interface Touch {
  readonly kind: "read" | "write" | "edit" | "run";
  /** Normalized; absent if the call does not name it. */
  readonly path?: string;
  /** The lines that were read; absent for the whole file. */
  readonly range?: LineRange;
  readonly command?: string;
  /** Working directory of the command, if the call names it. */
  readonly folder?: string;
}
