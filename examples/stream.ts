// A streamed answer: a draft grows piece by piece; a second handle on the same session watches it live and
// gets the finished message from its tail. If the writer died halfway, the next one to open the session would
// find the partial message.
import { setTimeout as sleep } from "node:timers/promises";
import { type Message, openKernel } from "longhaul";

const PIECES = ["The log ", "gets the ", "message once, ", "when it is ", "finished."];

await using kernel = await openKernel({
  path: process.env.LONGHAUL_HOME ?? ":memory:",
  // A second by default; shorter here to make updates visible.
  limits: { draftIntervalMs: 50 },
});
const writer = await kernel.session();
const reader = await kernel.session(writer.id);
const arrival = reader.tail({ after: 0 }).next();

await using draft = writer.draft({ role: "assistant", model: "example-model", parts: [] });
for (const piece of PIECES) {
  draft.write(piece);
  await sleep(100);
  const [live] = await reader.drafts();
  if (live) console.log(`reader sees a draft: ${textOf(live.body.message)}`);
}
const finished = await draft.finish();
console.log(`writer finished:     ${finished.id}`);

const { value: entry } = await arrival;
if (entry?.kind === "message") console.log(`reader's tail got:   ${entry.id} "${textOf(entry.message)}"`);
console.log(
  `drafts left: ${(await reader.drafts()).length}, entries in the log: ${(await reader.head()).seq}`,
);

function textOf({ parts }: Message): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}
