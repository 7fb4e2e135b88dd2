import { parentPort } from "node:worker_threads";
import { type EstimateTask, scoreEstimate } from "./savings-estimates.ts";

/** Replays in a worker thread, so that the main thread continues importing, indexing or relaying requests. */
parentPort?.on("message", (task: EstimateTask) => parentPort?.postMessage(scoreEstimate(task)));
