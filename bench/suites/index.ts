import type { Suite } from "../suite.ts";

/** A suite that can be named on the command line. */
export interface SuiteEntry {
  readonly summary: string;
  load(): Promise<Suite>;
}

/** All suites; a new one is a line here. */
export const SUITES: Readonly<Record<string, SuiteEntry>> = {
  formats: {
    summary: "importing: speed, memory and copies, on a synthetic session of 2 GB and on real transcripts",
    load: async () => (await import("./formats/index.ts")).formats,
  },
  window: {
    summary: "policies for the context window on real sessions: cost, what is kept, edits",
    load: async () => (await import("./window/index.ts")).window,
  },
  log: {
    summary: "the session log: appends, bytes, memory, opening, images, lookups, seed stress tests",
    load: async () => (await import("./log/index.ts")).log,
  },
};
