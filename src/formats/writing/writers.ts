import type { Writer } from "./writer.ts";

/** All writers. */
export const WRITERS: readonly Writer[] = [];
