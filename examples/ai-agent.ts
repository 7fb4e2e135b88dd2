// An AI SDK agent that reads far more than its window holds. One line connects it to a session: every step is stored,
// requests always fit the window, and nothing is lost from the log.
import { isStepCount, ToolLoopAgent, tool } from "ai";
import { openKernel } from "longhaul";
import { prepareStep } from "longhaul/ai";
import { z } from "zod";
import { exampleModel } from "./local/model.ts";

const CHAPTERS = 40;
const calls = Array.from({ length: CHAPTERS }, (_, index) => ({
  toolCalls: [{ id: `call_${index}`, name: "read", input: { chapter: index + 1 } }],
}));
await using local = await exampleModel([...calls, { text: "I have read them all." }]);
await using kernel = await openKernel({ path: process.env.LONGHAUL_HOME ?? ":memory:" });
const session = await kernel.session();

const read = tool({
  description: "Reads a chapter",
  inputSchema: z.object({ chapter: z.number() }),
  execute: async ({ chapter }) =>
    `Chapter ${chapter}. ${`It was day ${chapter} of the long haul. `.repeat(80)}`,
});
const agent = new ToolLoopAgent({
  model: local.model,
  tools: { read },
  stopWhen: isStepCount(CHAPTERS + 1),
  prepareStep: prepareStep({ session, models: { "claude-*": { window: 16_000 } } }),
});
const { text, steps } = await agent.generate({ prompt: `Read chapters 1 to ${CHAPTERS}, one by one.` });

const { entries } = await session.page({ limit: 1_000 });
console.log(`${steps.length} steps: ${text}`);
console.log(`the log holds ${entries.length} messages of ${JSON.stringify(entries).length} characters`);
console.log(`the largest request had ${Math.max(...local.sizes())} characters`);
