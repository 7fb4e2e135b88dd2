// Appends to its own session and to a shared one until it is stopped; prints each acknowledged entry.
import { setTimeout as sleep } from "node:timers/promises";
import { openKernel } from "longhaul";

const [path = "", name = ""] = process.argv.slice(2);
const kernel = await openKernel({ path });
const shared = await kernel.session("shared");
const own = await kernel.session(`own-${name}`);
const picture = (n: number) => Buffer.from(`picture ${name} ${n} `.repeat(6_000));
for (let n = 0; ; n++) {
  await sleep(20);
  const text = `${name}:${n}`;
  const [a, b] = await Promise.all([
    shared.append({ role: "user", text }),
    n % 20 === 0
      ? own.append({
          role: "user",
          parts: [{ type: "data", mime: "text/plain", data: picture(n) }],
        })
      : own.append({ role: "assistant", text }),
  ]);
  process.stdout.write(`${a.id} ${b.id}\n`);
}
