import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Contestant } from "./contestant.ts";
import { langgraph } from "./langgraph.ts";
import { mastra } from "./mastra.ts";
import { pi } from "./pi.ts";
import { openPortkey } from "./portkey.ts";

// Runs in its own process, because a broken native module can crash the process that loads it.
const contestant = [pi, mastra, langgraph].find(({ name }) => name === process.argv[2]);
if (process.argv[2] === "portkey") {
  await openPortkey();
  process.exit(0);
} else if (contestant) await keepsTwoMessages(contestant);
else throw new Error(`No peer is called ${process.argv[2]}.`);

async function keepsTwoMessages(contestant: Contestant): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "longhaul-peer-"));
  try {
    const conversation = await contestant.open(folder);
    await conversation.append({ role: "user", text: "ping" });
    await conversation.append({ role: "assistant", text: "pong" });
    const texts = await conversation.last(2);
    await conversation.close();
    if (texts.join() !== "ping,pong") throw new Error(`It gave back other messages: ${texts.join()}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
