/** Exit codes of the program; docs/cli.md explains them. */
export const EXIT = {
  fine: 0,
  failed: 1,
  usage: 2,
  /** The command finished, but records were lost or damaged, or a source failed. */
  incomplete: 3,
} as const;
