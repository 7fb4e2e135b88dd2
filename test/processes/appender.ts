// One of several processes that append to one session concurrently; prints the assigned seqs.
import { openKernel } from "longhaul";

const [path = "", name = "", count = "0"] = process.argv.slice(2);
const kernel = await openKernel({ path });
const session = await kernel.session("shared");
process.stdout.write("ready\n");
await new Promise((resolve) => process.stdin.once("data", resolve));
process.stdin.destroy();

const seqs: number[] = [];
for (let n = 0; n < Number(count); ) {
  if (n % 10 === 8) {
    const [a, b] = await session.appendAll([
      { role: "user", text: `${name}:${n++}` },
      { role: "user", text: `${name}:${n++}` },
    ]);
    seqs.push(a?.seq ?? 0, b?.seq ?? 0);
  } else seqs.push((await session.append({ role: "user", text: `${name}:${n++}` })).seq);
}
process.stdout.write(`${JSON.stringify(seqs)}\n`);
await kernel.close();
