import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { importSources } from "../../src/histories/index.ts";
import { type Kernel, openKernel } from "../../src/kernel/index.ts";
import { SavingsEstimates } from "../../src/kernel/usage/savings-estimates.ts";
import type { Json } from "../../src/model/json.ts";
import { OldPlaces } from "../../src/server/gateway/lookup/old-places.ts";
import { testFolder } from "../support/folder.ts";

const nested = JSON.parse(`${'{"a":['.repeat(1_250)}1${"]}".repeat(1_250)}`) as Json;

/** A store in which one person has conversations that are deep, huge, damaged and unreadable, and another has a plain one. */
async function openHostileStore(): Promise<Kernel> {
  const path = testFolder();
  {
    await using kernel = await openKernel({ path, embedder: null });
    const say = async (
      id: string,
      ...messages: Parameters<Awaited<ReturnType<Kernel["session"]>>["append"]>[0][]
    ) => {
      await using session = await kernel.session(id);
      for (const message of messages) await session.append(message);
    };
    const call = { type: "tool-call", callId: "c", name: "write", input: nested } as const;
    await say("@alice/deep", { role: "user", text: "go" }, { role: "assistant", parts: [call] });
    await say("@alice/huge", {
      role: "tool",
      parts: [{ type: "tool-result", callId: "c", output: "x ".repeat(900_000) }],
    });
    await say("@alice/damaged", { role: "user", text: "damaged" }, { role: "assistant", text: "fine" });
    await say("@alice/unreadable", { role: "user", text: "y ".repeat(100_000) });
    await say(
      "@bob/plain",
      { role: "user", text: "the zeppelin lands on friday" },
      { role: "assistant", text: "Noted." },
    );
  }
  const db = new DatabaseSync(join(path, "log.db"));
  db.exec(
    "UPDATE entries SET payload = x'00ff00ff' WHERE key IN (SELECT min(key) FROM entries WHERE key / 1073741824 = 3)",
  );
  const digest = db.prepare("SELECT hex(digest) AS digest FROM blobs ORDER BY size_bytes LIMIT 1").get()
    ?.digest as string;
  db.close();
  const blobs = join(path, "blobs", digest.slice(0, 2).toLowerCase());
  for (const name of readdirSync(blobs)) writeFileSync(join(blobs, name), "not these bytes");
  return openKernel({ path, embedder: null, limits: { maxReadBytes: 1_000_000 } });
}

test("no loop over everybody's content fails because of the content of one person", async () => {
  const kernel = await openHostileStore();
  await using _ = kernel;
  expect((await kernel.memory.recall("zeppelin friday")).hits[0]?.text).toContain("zeppelin");
  await kernel.memory.catchUp();
  const ids = (await kernel.sessions()).map(({ id }) => id);
  expect(ids).toHaveLength(5);
  await using estimates = new SavingsEstimates(kernel);
  await estimates.refresh(ids, { signal: new AbortController().signal });
  expect(await estimates.find("@bob/plain")).toBeDefined();
  const failures: unknown[] = [];
  const places = new OldPlaces(kernel, () => undefined);
  places.start((error) => failures.push(error));
  await places.close();
  expect(failures).toEqual([]);
});

test("a source that cannot be read is left out of the import and listed, until it can be read", async () => {
  const folder = testFolder();
  const kernel = await openKernel({ path: join(folder, "store"), embedder: null });
  await using _ = kernel;
  const histories = join(folder, "histories");
  mkdirSync(histories);
  const messages = [
    { role: "user", content: "the zeppelin lands on friday" },
    { role: "assistant", content: "Noted." },
  ];
  writeFileSync(join(histories, "good.json"), JSON.stringify(messages));
  writeFileSync(
    join(histories, "deep.json"),
    `[${JSON.stringify(messages[0])},${"[".repeat(50_000)}${"]".repeat(50_000)}]`,
  );
  writeFileSync(join(histories, "twice.json"), JSON.stringify([...messages, ...messages]));
  writeFileSync(join(histories, "closed.json"), JSON.stringify(messages), { mode: 0o600 });
  chmodSync(join(histories, "closed.json"), 0o000);
  const report = await importSources(kernel, [histories]);
  expect(report.sources.filter(({ path }) => path.endsWith("good.json")).map(({ status }) => status)).toEqual(
    ["imported"],
  );
  expect((await kernel.memory.recall("zeppelin friday")).hits.length).toBeGreaterThan(0);
});

test("a failing source is noted by its path and the name of its error, and the note goes with the failure", async () => {
  const folder = testFolder();
  const kernel = await openKernel({ path: join(folder, "store"), embedder: null });
  await using _ = kernel;
  const file = join(folder, "good.json");
  writeFileSync(
    file,
    JSON.stringify([
      { role: "user", content: "hello there" },
      { role: "assistant", content: "Hi." },
    ]),
  );
  const session = kernel.session.bind(kernel);
  kernel.session = async () => {
    throw new TypeError("words that must not be noted");
  };
  expect((await importSources(kernel, [file])).sources[0]?.status).toBe("failed");
  kernel.session = session;
  const listed = async () => {
    const items: unknown[] = [];
    for await (const { loop, item, reason } of kernel.maintenance.skipped())
      items.push([loop, item.endsWith("good.json"), reason]);
    return items;
  };
  expect(await listed()).toEqual([["import", true, "TypeError"]]);
  expect((await importSources(kernel, [file])).sources[0]?.status).toBe("imported");
  expect(await listed()).toEqual([]);
});
