import type { Format } from "./format.ts";

/** All formats, in the order in which they are asked whether a file is theirs: those that are sure come first. */
export const FORMATS: readonly Format[] = [];
