/** The command line is wrong; the message names the option and says what would be right. */
export class UsageError extends Error {}
