import type { LineRange } from "./line-range.ts";

/** What a tool call did: read or wrote a file, changed some of it, or ran a command. */
export interface Touch {
  readonly kind: "read" | "write" | "edit" | "run";
  /** Normalised; absent where the call does not say it. */
  readonly path?: string;
  /** The lines that were read; absent for the whole file. */
  readonly range?: LineRange;
  readonly command?: string;
  /** Where the command ran, as far as the call says it. */
  readonly folder?: string;
}
