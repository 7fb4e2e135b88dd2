import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Kernel, openKernel } from "../../../src/kernel/index.ts";
import { SavingsEstimates, sumEstimates } from "../../../src/kernel/usage/savings-estimates.ts";
import { jsonHere } from "../../cli/support/here.ts";
import { testFolder } from "../../support/folder.ts";
import { proofTest } from "../../support/proof.ts";

const signal = new AbortController().signal;

/** Conversations whose tool output fills the window, so that the policy has something to remove. */
async function fillStore(path: string, ids: readonly string[]): Promise<Kernel> {
  const kernel = await openKernel({ path, embedder: null });
  for (const id of ids) {
    await using session = await kernel.session(id);
    await session.append({ role: "user", text: "Read all files." });
    for (let turn = 0; turn < 40; turn++) {
      const callId = `call-${turn}`;
      const output = `file ${turn} `.repeat(5_000);
      const model = id.startsWith("unpriced") ? "some-local-model" : "claude-sonnet-4-5";
      await session.append({
        role: "assistant",
        model,
        parts: [{ type: "tool-call", callId, name: "read_file", input: { path: `${turn}.ts` } }],
      });
      await session.append({
        role: "tool",
        parts: [{ type: "tool-result", callId, name: "read_file", output }],
      });
    }
    await session.append({ role: "assistant", model: "claude-sonnet-4-5", text: "Done." });
  }
  return kernel;
}

async function readSums(estimates: SavingsEstimates, ids: readonly string[]) {
  const found = await Promise.all(ids.map((id) => estimates.find(id)));
  return sumEstimates(found.filter((one) => one !== undefined && one !== null));
}

proofTest("the estimate for all conversations equals the total of longhaul replay", async () => {
  const path = testFolder();
  const ids = ["one", "two"];
  const kernel = await fillStore(path, ids);
  const estimates = new SavingsEstimates(kernel);
  await estimates.refresh(ids, { signal });
  const sums = await readSums(estimates, ids);
  await estimates.close();
  await kernel.close();
  const { value } = await jsonHere(["replay", "--all", "--policy", "longhaul", "--store", path]);
  const [row] = value.replays;
  expect(row.window).toBe(200_000);
  expect(sums.conversations).toBe(row.sessions);
  expect(sums.dollars).toBeCloseTo(row.dollars, 10);
  expect(sums.unboundedDollars).toBeCloseTo(row.unboundedDollars, 10);
  expect(sums.unboundedDollars).toBeGreaterThan(sums.dollars);
  expect(sums.sizes.reduce((total, size) => total + size.conversations, 0)).toBe(2);
});

test("a query during the first computation of an estimate does not change its result", async () => {
  const path = testFolder();
  const kernel = await fillStore(path, ["one"]);
  const estimates = new SavingsEstimates(kernel, join(path, "estimates.json"));
  const asked = estimates.find("one");
  const run = estimates.refresh(["one"], { signal });
  const askedAgain = estimates.find("one");
  expect(await asked).toBeUndefined();
  await run;
  await askedAgain;
  expect(await estimates.find("one")).toMatchObject({ requests: 41 });
  await estimates.close();
  await kernel.close();
});

test("a later computation replays only new messages, and forgets deleted sessions", async () => {
  const path = testFolder();
  const file = join(path, "estimates.json");
  await using kernel = await fillStore(path, ["kept", "secret name"]);
  const first = new SavingsEstimates(kernel, file);
  await first.refresh(["kept", "secret name"], { signal });
  await first.close();
  expect(readFileSync(file, "utf8")).not.toContain("secret name");
  const stopped = new AbortController();
  const second = new SavingsEstimates(kernel, file);
  // Nothing is replayed: the figures of the first run are those of the present state.
  const done: number[] = [];
  await second.refresh(["kept", "secret name"], {
    signal: stopped.signal,
    onProgress: (one) => done.push(one),
  });
  expect(done).toEqual([1, 2]);
  expect((await readSums(second, ["kept"])).conversations).toBe(1);
  await second.keepOnly(["kept"]);
  expect(await second.find("secret name")).toBeUndefined();
  await second.close();
  const third = new SavingsEstimates(kernel, file);
  expect(await third.find("secret name")).toBeUndefined();
  expect((await third.find("kept"))?.unboundedDollars).toBeGreaterThan(0);
});
