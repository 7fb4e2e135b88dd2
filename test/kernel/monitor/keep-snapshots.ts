// Relieves a kernel twice under critical pressure and prints the two reports as JSON.
import { openKernel } from "longhaul";

const [folder = ""] = process.argv.slice(2);
const monitor = { warningBytes: 1, criticalBytes: 2, heapSnapshots: 1, heapSnapshotFolder: folder };
await using kernel = await openKernel({ path: ":memory:", monitor });
const reports = [await kernel.monitor.relieve(), await kernel.monitor.relieve()];
process.stdout.write(`${JSON.stringify(reports)}\n`);
