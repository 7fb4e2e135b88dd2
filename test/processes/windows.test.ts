import { expect, test } from "vitest";
import { type Message, openKernel, type Session } from "../../src/kernel/index.ts";
import { listAnsweredCallIds, listCallIds } from "../../src/model/tool-calls.ts";
import { type Child, startChild } from "../support/child.ts";
import { testFolder } from "../support/folder.ts";
import { testKernel } from "../support/kernel.ts";
import { proofTest } from "../support/proof.ts";
import { SMALL } from "../window/session/history.ts";

const OPTIONS = { ...SMALL, oversize: "clip" } as const;

async function startFitters(path: string, count: number, steps: number): Promise<readonly Child[]> {
  const children = Array.from({ length: count }, (_, index) =>
    startChild(new URL("./fitter.ts", import.meta.url), [path, `${index + 1}`, `${steps}`]),
  );
  for (const child of children) expect((await child.lines.next()).value, child.errors()).toBe("ready");
  for (const child of children) child.process.stdin?.write("go\n");
  return children;
}

async function makeSession(path: string): Promise<void> {
  const kernel = await openKernel({ path });
  const session = await kernel.session("shared");
  await session.append({ role: "user", text: "Please do all of it." });
  await kernel.close();
}

/**
 * Checks that the window fits, is complete, is the same for everyone and begins with the first request, and that every
 * summary can be reverted.
 */
async function expectSound(session: Session): Promise<void> {
  const fitted = await session.window(OPTIONS).fit();
  expect(fitted.tokens).toBeLessThanOrEqual(fitted.limits.most);
  expect(JSON.stringify(fitted.messages[0])).toContain("Please do all of it.");
  expectPairs(fitted.messages);
  expect(JSON.stringify((await session.window(OPTIONS).look()).messages)).toBe(
    JSON.stringify(fitted.messages),
  );
  for (const { entry, isHolding } of await session.overlays.list(1_000))
    if (isHolding && entry.edit.type !== "revert") await session.overlays.revert(entry.seq);
  expect((await session.overlays.list(1)).length).toBeGreaterThan(0);
  expect((await session.window(OPTIONS).fit()).tokens).toBeLessThanOrEqual(fitted.limits.most);
}

/** Checks that every result has its call before it. */
function expectPairs(messages: readonly Message[]): void {
  const called = new Set<string>();
  for (const message of messages) {
    for (const callId of listAnsweredCallIds(message)) expect(called.has(callId)).toBe(true);
    for (const callId of listCallIds(message)) called.add(callId);
  }
}

test("two processes that fit and compact one session at once keep its window whole and within bounds", async () => {
  const path = testFolder();
  await makeSession(path);
  const children = await startFitters(path, 2, 60);
  for (const child of children) expect(await child.ended(), child.errors()).toBe(0);
  const session = await (await testKernel({ path })).session("shared");
  await expectSound(session);
});

proofTest(
  "processes killed while they fit and compact leave a window that fits, and no lease that blocks",
  async () => {
    const path = testFolder();
    await makeSession(path);
    for (const after of [7, 18]) {
      const children = await startFitters(path, 2, 1_000);
      for (const child of children) for await (const line of child.lines) if (Number(line) >= after) break;
      for (const child of children) child.process.kill("SIGKILL");
      for (const child of children) expect(await child.ended(), child.errors()).toBe("SIGKILL");
      const kernel = await openKernel({ path });
      const session = await kernel.session("shared");
      await session.compact();
      const { tokens, limits, messages } = await session.window(OPTIONS).fit();
      expect(tokens).toBeLessThanOrEqual(limits.most);
      expectPairs(messages);
      await kernel.close();
    }
    await expectSound(await (await testKernel({ path })).session("shared"));
  },
);
