/** One thing that was said, as a data set gives it; its place in `Question.items` is its id. */
export interface Item {
  /** Which session of the question's scope it belongs to. */
  readonly session: number;
  readonly role: "user" | "assistant";
  readonly speaker: string | null;
  readonly atMs: number | null;
  readonly text: string;
}

/** One question over one scope, with the items that answer it. */
export interface Question {
  readonly set: string;
  /** Questions of one group share a scope, so they must not be split between fitting and testing. */
  readonly group: string;
  readonly category: string;
  readonly text: string;
  readonly askedAtMs: number | null;
  readonly items: readonly Item[];
  /** Places in `items`. */
  readonly gold: readonly number[];
  /** Sessions that hold the answer, where the data set says so. */
  readonly goldSessions: readonly number[];
}
