// Two processes append to one session concurrently while a third, this one, follows its log:
// nothing is lost or duplicated.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKernel } from "longhaul";

const WRITERS = ["ada", "grace"];
const EACH = 500;

const [writer, sessionId] = process.argv.slice(2);
if (writer) await write(writer, sessionId ?? "");
else await follow();

async function write(name: string, id: string): Promise<void> {
  await using kernel = await openKernel();
  const session = await kernel.session(id);
  for (let number = 1; number <= EACH; number++) {
    await session.append({ role: "user", text: `${name} says ${number}`, meta: { name, number } });
  }
}

async function follow(): Promise<void> {
  using home = storeFolder();
  await using kernel = await openKernel({ path: home.path });
  const session = await kernel.session();
  const writing = Promise.all(WRITERS.map((name) => startWriter(name, session.id, home.path)));
  const failed = new AbortController();
  writing.catch(() => failed.abort());

  const last = new Map<string, number>();
  let outOfOrder = 0;
  let turns = 0;
  let previous = "";
  let seen = 0;
  for await (const entry of session.tail({ after: 0, signal: failed.signal })) {
    const { name, number } = (entry.kind === "message" && entry.message.meta) || {};
    if (typeof name !== "string" || typeof number !== "number") continue;
    if (number !== (last.get(name) ?? 0) + 1) outOfOrder++;
    if (name !== previous) turns++;
    previous = name;
    last.set(name, number);
    if (++seen === WRITERS.length * EACH) break;
  }
  await writing;

  const { seq } = await session.head();
  console.log(`${WRITERS.length} processes appended ${EACH} messages each and took turns ${turns} times`);
  console.log(`the tail saw ${seen} messages, the log holds ${seq} entries`);
  console.log(`lost or doubled: ${seq - WRITERS.length * EACH}, out of order: ${outOfOrder}`);
  if (seq !== seen || outOfOrder > 0) process.exitCode = 1;
}

async function startWriter(name: string, id: string, path: string): Promise<void> {
  const child = spawn(process.execPath, [import.meta.filename, name, id], {
    env: { ...process.env, LONGHAUL_HOME: path },
    stdio: "inherit",
  });
  const [exitCode] = await once(child, "exit");
  if (exitCode !== 0) throw new Error(`Writer ${name} ended with ${exitCode}.`);
}

/** LONGHAUL_HOME, or a temporary folder that is removed at the end. */
function storeFolder(): Disposable & { readonly path: string } {
  const home = process.env.LONGHAUL_HOME;
  const path = home ?? mkdtempSync(join(tmpdir(), "longhaul-example-"));
  return {
    path,
    [Symbol.dispose]() {
      if (home === undefined) rmSync(path, { recursive: true, force: true });
    },
  };
}
