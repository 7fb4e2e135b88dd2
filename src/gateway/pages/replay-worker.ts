import { parentPort, workerData } from "node:worker_threads";
import { POLICIES } from "../../index.ts";
import { type ReplayTask, replayScores } from "./replay-scores.ts";

/** Replays in a thread of its own: the one that passes requests through must not wait for it. */
const { conversation, window, policies } = workerData as ReplayTask;
parentPort?.postMessage(
  replayScores(
    conversation,
    window,
    POLICIES.filter(({ name }) => policies.includes(name)),
  ),
);
