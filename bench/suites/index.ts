import type { Suite } from "../suite.ts";

/** A suite that can be selected on the command line. */
export interface SuiteEntry {
  readonly summary: string;
  load(): Promise<Suite>;
}

/** All suites by name. */
export const SUITES: Readonly<Record<string, SuiteEntry>> = {
  formats: {
    summary: "importing: speed, memory and copies, on a synthetic session of 2 GB and on real transcripts",
    load: async () => (await import("./formats/index.ts")).formats,
  },
  postgres: {
    summary: "the PostgreSQL store: appends beside bare inserts, windows and recall beside SQLite",
    load: async () => (await import("./postgres/index.ts")).postgres,
  },
  tokens: {
    summary: "token estimates: error by kind of text, once calibrated on real reports, and speed",
    load: async () => (await import("./tokens/index.ts")).tokens,
  },
  window: {
    summary: "policies for the context window on real sessions: cost, what is kept, edits",
    load: async () => (await import("./window/index.ts")).window,
  },
  shrink: {
    summary: "tool results shortened at first sight: what each filter saves, what the agent then lacked",
    load: async () => (await import("./shrink/index.ts")).shrink,
  },
  living: {
    summary: "a conversation that goes on: evidence late in it, edits, loops, turns of many steps, cost",
    load: async () => (await import("./living/index.ts")).living,
  },
  compact: {
    summary: "extractive summaries on real sessions: CPU, what is kept beside truncation",
    load: async () => (await import("./compact/index.ts")).compact,
  },
  hooks: {
    summary:
      "hooks of agents: latency next to an empty Node, negative controls, hand-back at compactions, fixes",
    load: async () => (await import("./hooks/index.ts")).hooks,
  },
  embedder: {
    summary: "the packaged embedder: load, texts a second, held-out pairs beside BM25",
    load: async () => (await import("./embedder/index.ts")).embedder,
  },
  memory: {
    summary: "memory: vector scan, indexing, recall, bytes, beside sqlite-vec and FTS5",
    load: async () => (await import("./memory/index.ts")).memory,
  },
  recall: {
    summary: "finding again what was said, and the file an issue is about: quality beside plain BM25, cost",
    load: async () => (await import("./recall/index.ts")).recall,
  },
  mcp: {
    summary: "the MCP server: CPU from its start to the first answer, and of later answers, in both eras",
    load: async () => (await import("./mcp/index.ts")).mcp,
  },
  tasks: {
    summary: "tasks: CPU, heap and handles of 10,000, one by one and 1,000 at a time",
    load: async () => (await import("./tasks/index.ts")).tasks,
  },
  "task-engines": {
    summary: "pg-boss, openworkflow and our tasks: workers killed and frozen, the database restarted",
    load: async () => (await import("./task-engines/index.ts")).taskEngines,
  },
  gateway: {
    summary: "the gateway: time added, throughput, memory, a session of 2,000 turns, beside a bare proxy",
    load: async () => (await import("./gateway/index.ts")).gateway,
  },
  dashboard: {
    summary:
      "the dashboard in Chromium: its first overview, a million entries, heap while scrolling, the chart of 3,000 edits",
    load: async () => (await import("./dashboard/index.ts")).dashboard,
  },
  hostile: {
    summary: "texts that are made to be slow: how long a megabyte holds up everyone, by subject",
    load: async () => (await import("./hostile/index.ts")).hostile,
  },
  "first-run": {
    summary:
      "the first run: 160 MB of history from nothing to the first recall, and the CPU of the next ones",
    load: async () => (await import("./first-run/index.ts")).firstRun,
  },
  log: {
    summary: "the session log: appends, bytes, memory, opening, images, lookups, seed stress tests",
    load: async () => (await import("./log/index.ts")).log,
  },
};
