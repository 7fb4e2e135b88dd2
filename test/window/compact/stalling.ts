// A process whose compaction waits for a model that never answers; reports when it has called the model.
import { openKernel } from "../../../src/kernel/index.ts";

const [path = ""] = process.argv.slice(2);
const kernel = await openKernel({ path });
const session = await kernel.session("shared");
const model = {
  id: "deaf",
  generate: () => {
    process.stdout.write("asked\n");
    return new Promise<never>(() => undefined);
  },
};
await session.compact({ model });
