import type { Hit } from "../../index.ts";

/** Search results for a new message of the user. */
export interface MemorySearch {
  /** Index of the message in the request. */
  readonly messageIndex: number;
  readonly query: string;
  /** Best first. */
  readonly hits: readonly Hit[];
}
