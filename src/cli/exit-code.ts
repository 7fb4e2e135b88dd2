/** What the program ends with; docs/cli.md says when. */
export const EXIT = {
  fine: 0,
  failed: 1,
  usage: 2,
  /** Done, but records were lost or damaged, or a source failed. */
  incomplete: 3,
} as const;
