import { join } from "node:path";
import type { MonitorOptions } from "../../log-entry.ts";
import type { GatewayConfig } from "./config.ts";

/** Folder of the heap snapshots inside the store's folder. */
const SNAPSHOT_FOLDER = "heap-snapshots";

/** The settings of the monitor as options of a kernel whose store is in a folder. */
export function toMonitorOptions(
  { enabled, ...limits }: GatewayConfig["monitor"],
  store: string,
): MonitorOptions | false {
  return enabled ? { ...limits, heapSnapshotFolder: join(store, SNAPSHOT_FOLDER) } : false;
}
