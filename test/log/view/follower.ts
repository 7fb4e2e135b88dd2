// Waits for one entry of another process, with nothing else to keep it alive.
import { openKernel, textOfMessage } from "longhaul";

const [path = ""] = process.argv.slice(2);
await using kernel = await openKernel({ path });
await using session = await kernel.session("s");
const tail = session.tail();
process.stdout.write("waiting\n");
// This timer does not keep the process alive: it rings only if the tail does.
setTimeout(() => process.stdout.write("still there\n"), 300).unref();
for await (const entry of tail) {
  process.stdout.write(`${entry.kind === "message" ? textOfMessage(entry.message) : entry.kind}\n`);
  break;
}
