// A chat with Vercel's AI SDK whose memory is a session: each call passes only the new message, and the rest comes from
// the log. With ANTHROPIC_API_KEY set, a real model answers; with LONGHAUL_HOME, the chat continues in the next run.
import { streamText } from "ai";
import { openKernel } from "longhaul";
import { withLonghaul } from "longhaul/ai";
import { exampleModel } from "./local/model.ts";

await using local = await exampleModel([{ text: "Mount Everest, 8,849 m." }, { text: "K2, 8,611 m." }]);
await using kernel = await openKernel({ path: process.env.LONGHAUL_HOME ?? ":memory:" });
const session = await kernel.session("ai-chat");
const model = withLonghaul(local.model, { session, history: "session", blobs: kernel.blobs });

for (const prompt of ["Which mountain is the highest?", "And the second?"]) {
  process.stdout.write(`> ${prompt}\n`);
  const { textStream } = streamText({ model, instructions: "Answer briefly.", prompt });
  for await (const piece of textStream) process.stdout.write(piece);
  process.stdout.write("\n");
}
const { entries } = await session.page();
console.log(`the log holds ${entries.length} messages`);
