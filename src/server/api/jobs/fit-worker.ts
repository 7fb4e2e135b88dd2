import { parentPort, workerData } from "node:worker_threads";
import { type FitTask, reportFitTask } from "./fit-task.ts";

/** Fits messages in a worker thread, so that the main thread, which relays requests, does not wait. */
parentPort?.postMessage(await reportFitTask(workerData as FitTask));
