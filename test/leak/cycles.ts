// Opens, uses and closes sessions many times, and prints everything that is still open.
import { openKernel } from "../../src/kernel/index.ts";

const [cycles = "300"] = process.argv.slice(2);
const image = Buffer.concat([
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
  Buffer.alloc(50_000, 7),
]);
const kernel = await openKernel({ path: ":memory:", limits: { blobCacheBytes: 0 } });

async function cycle(n: number): Promise<void> {
  await using session = await kernel.session(`session ${n % 10}`);
  const { seq } = await session.append({
    role: "user",
    parts: [
      { type: "text", text: `hello ${n}` },
      { type: "data", data: image },
    ],
  });
  const draft = session.draft({ role: "assistant", text: "thinking" });
  draft.write(" aloud");
  await draft.finish();
  for await (const _ of session.tail({ after: seq })) break;
  const abandoned = session.tail();
  void abandoned.next();
  await session.edits.propose(seq, { role: "user", text: "never confirmed" });
  const child = await session.child({ id: `child ${n % 10}` });
  await child.append({ role: "user", text: "sub-task" });
  const { entries } = await session.page();
  for (const entry of entries.slice(0, 1)) await session.entry(entry.id);
}

for (let n = 0; n < Number(cycles); n++) await cycle(n);
const counts = kernel.counts();
await kernel.close();
// The system may still be closing a file that the program has already let go of.
const listHandles = () =>
  process.getActiveResourcesInfo().filter((name) => name !== "TTYWrap" && name !== "PipeWrap");
while (listHandles().includes("CloseReq")) await new Promise((resolve) => setImmediate(resolve));
const handles = listHandles().filter((name) => name !== "Immediate");
console.log(JSON.stringify({ counts, after: kernel.counts(), handles }));
