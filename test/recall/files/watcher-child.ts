// Watches a folder, closes the kernel and reports it; the process must then exit by itself.
import { openKernel } from "../../../src/kernel/index.ts";

const [folder = "."] = process.argv.slice(2);
const kernel = await openKernel({ path: ":memory:" });
const indexed = new Promise((resolve) => kernel.memory.watchFiles([folder], { onIndexed: resolve }));
await indexed;
await kernel.close();
console.log(JSON.stringify(kernel.counts().watcher));
