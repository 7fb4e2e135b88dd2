import { describe, expect, test } from "vitest";
import type { FittedWindow, Session } from "../../../src/kernel/index.ts";
import { testFolder } from "../../support/folder.ts";
import { testKernel } from "../../support/kernel.ts";
import { proofTest } from "../../support/proof.ts";
import { SMALL, work } from "../session/history.ts";
import { scriptedProvider } from "./scripted-provider.ts";

const shown = ({ messages }: Pick<FittedWindow, "messages">) => JSON.stringify(messages);
const look = async (session: Session) => shown(await session.window(SMALL).look());
const quoted = (text: string) => JSON.stringify(text).slice(1, -1);

/** A provider that signals when it is called, and fails when told to proceed. */
function waitingProvider() {
  let proceed = () => {};
  let tellAsked = () => {};
  const gate = new Promise<void>((resolve) => {
    proceed = resolve;
  });
  const asked = new Promise<void>((resolve) => {
    tellAsked = resolve;
  });
  const provider = {
    id: "slow",
    generate: async () => {
      tellAsked();
      await gate;
      return { text: "nothing of use", finishReason: "stop" as const };
    },
  };
  return { provider, asked, proceed: () => proceed() };
}

describe("a summary next to other edits of the window", () => {
  test("a summary takes effect in a window that a policy has cut before, and reports that window as its start", async () => {
    const session = await (await testKernel()).session();
    await work(session, 80);
    const window = session.window(SMALL);
    expect((await window.fit()).plan).toBeDefined();
    await work(session, 14, 100);
    const before = await session.window(SMALL).look();
    const compacted = await session.compact();
    expect(compacted?.before).toHaveLength(before.messages.length);
    const after = await window.fit();
    expect(shown(after)).toContain(quoted(compacted?.summary ?? "?"));
    expect(after.messages).toHaveLength(compacted?.after.length ?? 0);
    await session.overlays.revert(compacted?.overlay as number);
    expect(await look(session)).toBe(shown(before));
  });

  test("a summary is not added if it would make the window larger", async () => {
    const session = await (await testKernel()).session();
    await work(session, 80);
    await session.append({ role: "assistant", text: "Done." });
    expect(await session.compact()).toBeDefined();
    const before = await look(session);
    expect(await session.compact()).toBeUndefined();
    expect(await look(session)).toBe(before);
  });

  test("a summary stays when a policy cuts the window later, and reverting the summary brings back the earlier summary", async () => {
    const session = await (await testKernel()).session();
    await work(session, 20);
    const first = await session.compact();
    await work(session, 20, 100);
    const second = await session.compact();
    await work(session, 40, 200);
    const fitted = await session.window(SMALL).fit();
    expect(fitted.plan).toBeDefined();
    expect(shown(fitted)).toContain(quoted(second?.summary ?? "?"));
    await session.overlays.revert(second?.overlay as number);
    expect(await look(session)).toContain(quoted(first?.summary ?? "?"));
  });

  test("a summary of a session with many earlier summaries keeps only one summary in the window", async () => {
    const session = await (await testKernel()).session();
    for (let round = 0; round < 6; round++) {
      await work(session, 12, round * 100);
      expect(await session.compact()).toBeDefined();
    }
    const [newest] = await session.overlays.list(1);
    const edit = newest?.entry.edit;
    expect(edit?.type === "summarize" && edit.lasting).toHaveLength(1);
  });

  test("a pin and a hidden message added while a summary is being written are respected", async () => {
    const session = await (await testKernel()).session();
    await work(session, 10);
    const port = await session.append({ role: "user", text: "The port is 4711." });
    const secret = await session.append({ role: "user", text: "The word is kumquat." });
    await work(session, 20, 50);
    const { provider, asked, proceed } = waitingProvider();
    const compacting = session.compact({ model: provider, tries: 1 });
    await asked;
    await session.pin(port.seq);
    const range = { session: session.id, from: secret.seq, to: secret.seq };
    await session.overlays.add({ type: "hide", ranges: [range] }, "not for the provider");
    proceed();
    expect((await compacting)?.overlay).toBeDefined();
    const window = await look(session);
    expect(window).toContain('[{"type":"text","text":"The port is 4711."}]');
    expect(window).not.toContain("kumquat");
  });

  test("the latest reply stays in the window, however much the user has said after it", async () => {
    const session = await (await testKernel()).session();
    await work(session, 20);
    await session.append({ role: "assistant", text: "The answer is in cart.ts." });
    for (let number = 0; number < 8; number++)
      await session.append({ role: "user", text: `And number ${number}, please.` });
    expect(await session.compact()).toBeDefined();
    expect(await look(session)).toContain('[{"type":"text","text":"The answer is in cart.ts."}]');
  });

  test("a caller that waits for a summary can stop waiting", async () => {
    const session = await (await testKernel()).session();
    await work(session, 25);
    const model = scriptedProvider("slow", [{ type: "stalls" }]);
    const window = session.window({ ...SMALL, compaction: { model, threshold: 20 } });
    const stop = new AbortController();
    const fitting = window.fit({ signal: stop.signal });
    await expect.poll(() => model.calls.length).toBeGreaterThan(0);
    stop.abort();
    await expect(fitting).rejects.toMatchObject({ code: "ABORTED" });
    expect(await session.overlays.list()).toEqual([]);
  });

  test("a model without a key does not stop the session, and the overlay names the failure", async () => {
    const session = await (await testKernel()).session();
    await work(session, 25);
    const compaction = { model: "no-such-provider/model", threshold: 20 };
    const { tokens, limits } = await session.window({ ...SMALL, compaction }).fit();
    expect(tokens).toBeLessThanOrEqual(limits.most);
    const [newest] = await session.overlays.list(1);
    expect(newest?.entry.reason).toMatch(/^summary by extractive, model failed: .*no-such-provider/);
  });

  proofTest("a compaction of a dead process on this machine is taken over at once", async () => {
    const path = testFolder();
    const { startChild } = await import("../../support/child.ts");
    const session = await (await testKernel({ path })).session("shared");
    await work(session, 20);
    const child = startChild(new URL("./stalling.ts", import.meta.url), [path]);
    expect((await child.lines.next()).value, child.errors()).toBe("asked");
    await expect(session.compact()).rejects.toMatchObject({ code: "COMPACTION_BUSY" });
    child.process.kill("SIGKILL");
    await child.ended();
    expect((await session.compact())?.rung).toBe("extractive");
  });
});
