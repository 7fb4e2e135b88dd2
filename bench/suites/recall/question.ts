/** One turn of a data set; its index in `Question.items` is its id. */
export interface Item {
  /** The turn's session within the question's scope. */
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
  /** The expected answer in words; null if the data set has none. */
  readonly answer: string | null;
  readonly items: readonly Item[];
  /** Indexes in `items`. */
  readonly gold: readonly number[];
  /** Sessions that contain the answer, if the data set names them. */
  readonly goldSessions: readonly number[];
}
