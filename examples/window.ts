// The window of the next call: an agent reads far more than its model's window holds; every edit has a
// receipt and can be reverted.
import { openKernel } from "longhaul";

await using kernel = await openKernel({ path: process.env.LONGHAUL_HOME ?? ":memory:" });
const session = await kernel.session("reader");
const window = session.window({ model: "claude-sonnet-4-5", models: { "claude-*": { window: 16_000 } } });

await session.append({ role: "user", text: "Read all files and tell me which port the server uses." });
for (let file = 1; file <= 60; file++) {
  const callId = `call-${file}`;
  const path = `src/part-${file}.ts`;
  const lines = Array.from(
    { length: 30 },
    (_, line) => `export const setting_${file}_${line} = ${file * line};`,
  );
  await session.appendAll([
    { role: "assistant", parts: [{ type: "tool-call", callId, name: "read", input: { path } }] },
    { role: "tool", parts: [{ type: "tool-result", callId, output: lines.join("\n") }] },
  ]);
  const { tokens, limits, plan } = await window.fit();
  if (!plan) continue;
  const { receipt } = plan;
  console.log(`${path}: ${plan.reason}; ${receipt.tokens.without} → ${receipt.tokens.with} tokens`);
  console.log(`  ${receipt.left.entries} messages left; pays after ${receipt.breakEvenCalls} calls`);
  if (tokens > limits.most) throw new Error("never");
}

const [newest] = await session.overlays.list(1);
const before = (await window.look()).messages.length;
if (newest) await session.overlays.revert(newest.entry.seq);
console.log(`${before} messages in the window, ${(await window.look()).messages.length} after the undo`);
const compacted = await session.compact();
console.log(`summary by ${compacted?.rung}: ${compacted?.tokens.without} → ${compacted?.tokens.with} tokens`);
