import { LOST, type Notes, numbered } from "./notes.ts";
import type { ScriptedFault } from "./upstream/scripted-upstream.ts";

/** Conditions of an agent's run. */
export interface Scenario extends Notes {
  readonly name: string;
  readonly about: string;
  readonly turns: 1 | 2;
  readonly faults?: Readonly<Record<number, ScriptedFault>>;
  /** From this request on, every request of the conversation is refused as too long. */
  readonly refusedFrom?: number;
  /** True if requests for a summary are then refused too. */
  readonly areSummariesRefused?: boolean;
  /** Number of reads that fit in the window enforced by the upstream. */
  readonly readsWithRoom?: number;
  /** Tokens of the window enforced by the upstream. */
  readonly window?: number;
  /** Every request with so many tool results is refused as too long. */
  readonly refusedResults?: number;
  /** Maximum requests with which the turn must reach the right answer, also where it fails directly. */
  readonly maxRequests?: number;
  /** True if the gateway restarts between the turns. */
  readonly isRestarted?: boolean;
  /** True if one reply reads all files with parallel calls. */
  readonly isParallel?: boolean;
}

const SAME = ["notes.txt", "notes.txt", "notes.txt"];
const OTHERS = numbered(3);

/** All scenarios. Faults occur between the reads, where agents have something to lose. */
export const SCENARIOS: readonly Scenario[] = [
  { name: "normal", about: "two turns of three reads", turns: 2, files: SAME },
  {
    name: "overflow",
    about: "the third request is called too long, once",
    turns: 1,
    files: OTHERS,
    faults: { 3: "overflow" },
  },
  {
    name: "refused",
    about: "every request from the third on is called too long, summaries are not",
    turns: 1,
    files: OTHERS,
    refusedFrom: 3,
  },
  {
    name: "refused-all",
    about: "every request from the third on is called too long, summaries included",
    turns: 1,
    files: OTHERS,
    refusedFrom: 3,
    areSummariesRefused: true,
  },
  {
    name: "window",
    about: "the upstream enforces a window in which two reads have room",
    turns: 1,
    files: OTHERS,
    readsWithRoom: 2.5,
  },
  {
    name: "rate-limit",
    about: "the second request is put off three times (429)",
    turns: 1,
    files: OTHERS,
    faults: { 2: "rate-limit", 3: "rate-limit", 4: "rate-limit" },
  },
  {
    name: "cut",
    about: "the stream of the second answer breaks off, once",
    turns: 1,
    files: OTHERS,
    faults: { 2: "cut" },
  },
  {
    name: "restart",
    about: "the gateway is started again between two turns",
    turns: 2,
    files: SAME,
    isRestarted: true,
  },
  {
    name: "parallel",
    about: "one reply calls for three reads at once",
    turns: 1,
    files: OTHERS,
    isParallel: true,
  },
  {
    name: "large",
    about: "the first file has a million characters",
    turns: 1,
    files: OTHERS,
    firstLines: 16_000,
  },
  {
    name: "missing",
    about: "the first file to be read is not there",
    turns: 1,
    files: [LOST, ...OTHERS],
  },
  {
    name: "interrupt",
    about: "the agent is interrupted in the midst of the second answer, and goes on in a second turn",
    turns: 2,
    files: SAME,
    faults: { 2: "stall" },
  },
  {
    name: "realturn",
    about: "one turn reads ten files of 35 KB, and the upstream enforces a window of 50,000 tokens",
    turns: 1,
    files: numbered(10),
    lines: 560,
    window: 50_000,
    maxRequests: 18,
  },
  {
    name: "ctx-ever",
    about: "every request with two or more tool results is called too long",
    turns: 1,
    files: numbered(12),
    refusedResults: 2,
  },
];
