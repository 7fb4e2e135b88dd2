/** The command line is wrong; the message names the option and the expected value. */
export class UsageError extends Error {}
