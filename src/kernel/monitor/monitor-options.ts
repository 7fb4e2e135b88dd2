import { checkFields } from "../../model/argument-checks.ts";
import { checkNames } from "../../model/edit-distance.ts";
import { checkWholeNumber, createArgumentError } from "../../model/errors.ts";

/** Options of the monitor. */
export interface MonitorOptions {
  /** Time between two measurements; default 30 s. */
  readonly intervalMs?: number;
  /** Memory in use from which a warning is given; default 500 MB. */
  readonly warningBytes?: number;
  /** Memory in use from which caches are dropped; default 1,000 MB. */
  readonly criticalBytes?: number;
  /** Heap snapshots that are kept, one for each critical state; default 0. */
  readonly heapSnapshots?: number;
  /** Folder of the heap snapshots; required for them. */
  readonly heapSnapshotFolder?: string;
}

/** Options with their defaults. */
export interface MonitorSettings extends Required<Omit<MonitorOptions, "heapSnapshotFolder">> {
  readonly heapSnapshotFolder: string | undefined;
}

const MB = 1_000_000;
const MAX_SNAPSHOTS = 10;
const MAX_INTERVAL_MS = 86_400_000;
const NAMES = ["intervalMs", "warningBytes", "criticalBytes", "heapSnapshots", "heapSnapshotFolder"];

/** The options with defaults, checked. */
export function resolveMonitorOptions(options: MonitorOptions = {}): MonitorSettings {
  checkNames("monitor", checkFields("monitor", options, { heapSnapshotFolder: "name?" }), NAMES);
  const settings = {
    intervalMs: checkWholeNumber("monitor.intervalMs", options.intervalMs ?? 30_000, 10, MAX_INTERVAL_MS),
    warningBytes: checkWholeNumber("monitor.warningBytes", options.warningBytes ?? 500 * MB, 1),
    criticalBytes: checkWholeNumber("monitor.criticalBytes", options.criticalBytes ?? 1_000 * MB, 1),
    heapSnapshots: checkWholeNumber("monitor.heapSnapshots", options.heapSnapshots ?? 0, 0, MAX_SNAPSHOTS),
    heapSnapshotFolder: options.heapSnapshotFolder,
  };
  if (settings.warningBytes > settings.criticalBytes)
    throw createArgumentError("monitor.warningBytes", settings.warningBytes, "at most monitor.criticalBytes");
  if (settings.heapSnapshots > 0 && settings.heapSnapshotFolder === undefined)
    throw createArgumentError("monitor.heapSnapshotFolder", undefined, "a folder for the heap snapshots");
  return settings;
}
