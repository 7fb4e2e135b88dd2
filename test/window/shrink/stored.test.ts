import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import type { WindowOptions } from "../../../src/kernel/faces/window.ts";
import { type FittedWindow, openKernel, type Session } from "../../../src/kernel/index.ts";
import { diskKernel, testKernel } from "../../support/kernel.ts";
import { proofTest } from "../../support/proof.ts";
import { Random } from "../../support/random.ts";
import { buildRandomWork } from "./random-work.ts";

const LARGE: WindowOptions = { model: "claude-sonnet-4-5", system: 1_000 };
const CODE = Array.from(
  { length: 40 },
  (_, at) => `export const setting_${at} = load("setting ${at}");`,
).join("\n");
const POINTER = "the same as lines 1-40 of #3 (read src/app.ts)";

const shown = ({ messages }: FittedWindow) => JSON.stringify(messages);

async function read(session: Session, callId: string, output = CODE): Promise<void> {
  const input = { path: "src/app.ts" };
  await session.append({ role: "assistant", parts: [{ type: "tool-call", callId, name: "read", input }] });
  await session.append({ role: "tool", parts: [{ type: "tool-result", callId, output }] });
}

/** A session whose second read repeats the first, fitted before each reply. */
async function readTwice(session: Session, options = LARGE) {
  const window = session.window(options);
  await session.append({ role: "user", text: "Please go on with the work." });
  await window.fit();
  await read(session, "1");
  await window.fit();
  await read(session, "2");
  return { window, fitted: await window.fit() };
}

describe("a shortened result", () => {
  test("a shortened result is stored as one overlay with a receipt, and the log keeps the original", async () => {
    const session = await (await testKernel()).session();
    const { window, fitted } = await readTwice(session);
    expect(fitted.plan).toBeUndefined();
    expect(fitted.touchUp?.receipt.tokens.with).toBeLessThan(
      fitted.touchUp?.receipt.tokens.without as number,
    );
    expect(fitted.touchUp?.receipt.left.entries).toBe(0);
    expect(shown(fitted)).toContain(POINTER);
    const overlays = await session.overlays.list();
    expect(overlays.map(({ entry }) => entry.seq)).toEqual([fitted.touchUp?.overlay]);
    const expanded: unknown[] = [];
    for await (const entry of session.expand(5)) expanded.push(entry);
    expect(JSON.stringify(expanded)).toContain("setting_39");
    expect((await window.fit()).touchUp).toBeUndefined();
  });

  test("a shortened result returns byte for byte when it is reverted, and is not shortened again", async () => {
    const session = await (await testKernel()).session();
    const { window, fitted } = await readTwice(session);
    const plain = shown(
      await readTwice(await (await testKernel()).session(), { ...LARGE, shrink: false }).then(
        (one) => one.fitted,
      ),
    );
    await session.overlays.revert(fitted.touchUp?.overlay as number);
    for (const own of [window, session.window(LARGE)]) {
      expect(shown(await own.fit())).toBe(plain);
      expect(shown(await own.look())).toBe(plain);
    }
    await read(session, "3");
    expect(shown(await window.fit())).toContain("the same as lines 1-40 of #5");
  });

  test("a shortened result keeps its bytes in every later call, in another handle and after a restart", async () => {
    const { kernel, path } = await diskKernel();
    const session = await kernel.session("work");
    const { window, fitted } = await readTwice(session);
    const before = shown(fitted);
    expect(shown(await session.window(LARGE).fit())).toBe(before);
    await read(session, "3", "nothing new");
    expect(shown(await window.fit()).startsWith(before.slice(0, -1))).toBe(true);
    const grown = shown(await window.look());
    await kernel.close();
    const reopened = await openKernel({ path });
    try {
      const again = (await reopened.session("work")).window(LARGE);
      expect(shown(await again.fit())).toBe(grown);
      // The next result is shortened alike by a process that has never seen the conversation.
      await read(await reopened.session("work"), "4");
      expect(shown(await again.fit())).toContain(POINTER);
      expect((await again.fit()).touchUp).toBeUndefined();
    } finally {
      await reopened.close();
    }
  });

  test("a shortened result gets its lines back in the first call without the earlier copy", async () => {
    for (const remove of [
      (session: Session) =>
        session.overlays.add({ type: "hide", ranges: [{ session: session.id, from: 2, to: 3 }] }, "private"),
      (session: Session) =>
        session.overlays.add(
          {
            type: "replace",
            target: { seq: 3, part: 0 },
            parts: [{ type: "tool-result", callId: "1", output: "[gone]" }],
          },
          "not needed",
        ),
    ]) {
      const session = await (await testKernel()).session();
      const { window, fitted } = await readTwice(session);
      expect(shown(fitted)).toContain(POINTER);
      await remove(session);
      const next = await window.fit();
      expect(shown(next)).not.toContain(POINTER);
      expect(shown(next)).toContain("setting_39");
      expect(shown(await session.window(LARGE).look())).toBe(shown(next));
    }
  });

  test("a rewind to before a shortened result removes it, and a fork starts with it", async () => {
    const session = await (await testKernel()).session();
    const { window, fitted } = await readTwice(session);
    const fork = await session.fork();
    expect(shown(await fork.window(LARGE).fit())).toBe(shown(fitted));
    await session.rewind(3);
    expect(shown(await window.fit())).not.toContain("left out");
  });

  test("a shortened result is erased with its original entry", async () => {
    const session = await (await testKernel()).session();
    const changed = `${CODE}\nconst password = "hunter2-hunter2";`;
    const { window } = await readTwice(session);
    await read(session, "3", changed);
    const fitted = await window.fit();
    expect(shown(fitted)).toContain("hunter2");
    expect(fitted.touchUp).toBeDefined();
    await session.redact(8, "secret");
    expect(JSON.stringify(await session.overlays.list())).not.toContain("hunter2");
    expect(shown(await window.fit())).not.toContain("hunter2");
  });

  test("a dry run shortens a result without storing the edit", async () => {
    const session = await (await testKernel()).session();
    const window = session.window(LARGE);
    await session.append({ role: "user", text: "Please go on." });
    await read(session, "1");
    await window.fit();
    await read(session, "2");
    const planned = await window.fit({ dryRun: true });
    expect(planned.touchUp?.overlay).toBeUndefined();
    expect(shown(planned)).toContain(POINTER);
    expect(await session.overlays.list()).toEqual([]);
    expect(shown(await window.fit())).toBe(shown(planned));
  });
});

test("the note that a filter leaves makes no rewritten window, so that no tools join a small conversation", async () => {
  const session = await (await testKernel()).session();
  const window = session.window(LARGE);
  await session.append({ role: "user", text: "Run the tests." });
  await window.fit();
  const progress = Array.from({ length: 40 }, (_, at) => `Downloading ${at + 1} of 40 packages`).join("\n");
  const input = { command: "npm test" };
  await session.append({
    role: "assistant",
    parts: [{ type: "tool-call", callId: "1", name: "Bash", input }],
  });
  await session.append({ role: "tool", parts: [{ type: "tool-result", callId: "1", output: progress }] });
  const fitted = await window.fit();
  expect(shown(fitted)).toContain("left out: progress like the lines around them; whole: expand ");
  expect(fitted.isRewritten).toBe(false);
  expect((await session.window(LARGE).look()).isRewritten).toBe(false);
});

/** Prints the window of a stored session, as a process of its own. */
const PRINT = `
  const [kernelUrl, path, options] = process.argv.slice(-3);
  const { openKernel } = await import(kernelUrl);
  await using kernel = await openKernel({ path });
  const { messages } = await (await kernel.session("work")).window(JSON.parse(options)).look();
  process.stdout.write(JSON.stringify(messages));
`;

proofTest("a living handle, a new one, a new kernel and another process send the same bytes", async () => {
  const { kernel, path } = await diskKernel();
  const session = await kernel.session("work");
  const window = session.window(LARGE);
  let pointers = 0;
  for (const [index, message] of buildRandomWork(new Random(7), 30).entries()) {
    await session.append(message);
    if (message.role === "assistant") continue;
    const living = shown(await window.fit());
    pointers = living.split(" left out: ").length;
    if (index % 5 === 0) expect(shown(await session.window(LARGE).look())).toBe(living);
  }
  expect(pointers).toBeGreaterThan(10);
  const living = shown(await window.look());
  await kernel.close();
  const kernelUrl = new URL("../../../src/kernel/index.ts", import.meta.url).href;
  const args = ["--input-type=module", "-e", PRINT, "--", kernelUrl, path, JSON.stringify(LARGE)];
  expect(execFileSync(process.execPath, args, { encoding: "utf8", maxBuffer: 1e8 })).toBe(living);
  await using reopened = await openKernel({ path });
  const again = await reopened.session("work");
  expect(shown(await again.window(LARGE).fit())).toBe(living);
});

test("each filter can be switched off for a window", async () => {
  const session = await (await testKernel()).session();
  const { fitted } = await readTwice(session, { ...LARGE, shrink: { repeats: false } });
  expect(fitted.touchUp).toBeUndefined();
  expect(() => session.window({ ...LARGE, shrink: { nonsense: false } as never })).toThrow(
    /filters of terminal/,
  );
});
