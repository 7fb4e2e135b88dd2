import { enableCompileCache } from "node:module";
import { parentPort, workerData } from "node:worker_threads";

// The whole program's modules, in a thread that the relay can leave: a search blocks its own thread only.
enableCompileCache(`${import.meta.dirname}/../.compile-cache`);
const { given, input } = workerData as {
  readonly given: { readonly event: string; readonly client: string; readonly store: string };
  readonly input: string;
};
const { answerFromStore } = await import("../adapters/hooks/index.ts");
await answerFromStore(given, input, async (reply) => {
  parentPort?.postMessage(reply);
  return true;
});
