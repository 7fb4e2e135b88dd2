// A process whose compaction waits for a model that never answers; says when it has asked.
import { openKernel } from "../../src/index.ts";

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
