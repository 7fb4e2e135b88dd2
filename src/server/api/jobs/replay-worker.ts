import { parentPort, workerData } from "node:worker_threads";
import { POLICIES } from "../../../kernel/faces/window.ts";
import { type ReplayTask, scorePolicies } from "./replay-scores.ts";

/** Replays in a worker thread, so that the main thread, which relays requests, does not wait. */
const { conversation, window, policies, hasCurves } = workerData as ReplayTask;
parentPort?.postMessage(
  scorePolicies(
    conversation,
    window,
    POLICIES.filter(({ name }) => policies.includes(name)),
    hasCurves,
  ),
);
