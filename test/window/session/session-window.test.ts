import { describe, expect, test } from "vitest";
import type { Policy, Slot } from "../../../src/kernel/faces/window.ts";
import type { FittedWindow, Session } from "../../../src/kernel/index.ts";
import { openKernel } from "../../../src/kernel/index.ts";
import { testFolder } from "../../support/folder.ts";
import { testKernel } from "../../support/kernel.ts";
import { proofTest } from "../../support/proof.ts";
import { SMALL, step, work } from "./history.ts";

const shown = ({ messages }: FittedWindow) => JSON.stringify(messages);
const seqs = ({ slots }: FittedWindow) => slots.flatMap(({ seq, isNote }) => (isNote ? [] : [seq]));

describe("the window of a session", () => {
  test("the window of a session is the whole conversation while the conversation fits", async () => {
    const session = await (await testKernel()).session();
    await work(session, 3);
    const fitted = await session.window(SMALL).fit();
    expect(fitted.messages).toHaveLength(7);
    expect(fitted.plan).toBeUndefined();
    expect(fitted.cache).toBe("unknown");
    expect((await session.head()).seq).toBe(7);
  });

  test("the window of a session stays within the model's limit however long the session is, with a receipt for each edit", async () => {
    const session = await (await testKernel()).session();
    const window = session.window(SMALL);
    let plans = 0;
    for (let number = 0; number < 60; number++) {
      await work(session, 1, number);
      const { tokens, limits, plan } = await window.fit();
      expect(tokens).toBeLessThanOrEqual(limits.most);
      if (!plan) continue;
      plans++;
      expect(plan.receipt.tokens.with).toBeLessThan(plan.receipt.tokens.without);
      // An older copy of a file becomes a stub, and its message stays.
      if (!plan.reason.includes("copies of files")) expect(plan.receipt.left.entries).toBeGreaterThan(0);
      expect(Math.min(50, plan.receipt.left.identifiers)).toBe(plan.receipt.left.named.length);
      const stored = await session.entry(plan.overlay as number);
      expect(stored).toMatchObject({ kind: "overlay", author: "longhaul", receipt: plan.receipt });
    }
    expect(plans).toBeGreaterThan(2);
    expect(plans).toBeLessThan(30);
  });

  test("the window of a session has the same bytes from call to call and after a restart", async () => {
    const path = testFolder();
    const kernel = await openKernel({ path });
    const session = await kernel.session("long");
    const window = session.window(SMALL);
    await work(session, 60);
    const first = await window.fit();
    expect(first.plan).toBeDefined();
    const again = await window.fit();
    expect(again.plan).toBeUndefined();
    expect(shown(again)).toBe(shown(first));
    await kernel.close();

    const later = await testKernel({ path });
    const reopened = await (await later.session("long")).window(SMALL).fit();
    expect(reopened.plan).toBeUndefined();
    expect(shown(reopened)).toBe(shown(first));
    expect(reopened.tokens).toBe(first.tokens);
  });

  test("the window of a session keeps its beginning when messages are added", async () => {
    const session = await (await testKernel()).session();
    const window = session.window(SMALL);
    await work(session, 60);
    const first = await window.fit();
    await session.appendAll(step(100, 3));
    const next = await window.fit();
    expect(next.plan).toBeUndefined();
    expect(shown(next).startsWith(shown(first).slice(0, -1))).toBe(true);
  });

  test("the window of a session never touches the first request, pins and the last exchange", async () => {
    const session = await (await testKernel()).session();
    const first = await session.append({ role: "user", text: "Build the thing, and never use semicolons." });
    for (let number = 0; number < 20; number++) await session.appendAll(step(number));
    const pinned = await session.append({ role: "user", text: "Remember: the port is 4711." });
    await session.pin(pinned.seq);
    for (let number = 20; number < 80; number++) await session.appendAll(step(number));
    const last = await session.head();
    const fitted = await session.window(SMALL).fit();
    expect(fitted.plan?.receipt.isForced).toBe(true);
    const texts = fitted.messages.map(({ parts }) => JSON.stringify(parts));
    expect(texts[0]).toContain("never use semicolons");
    expect(texts.some((text) => text.includes("the port is 4711"))).toBe(true);
    expect(fitted.parts.pins).toBeGreaterThan(0);
    expect(seqs(fitted)).toEqual(expect.arrayContaining([first.seq, pinned.seq, last.seq - 1, last.seq - 2]));
    await session.unpin(pinned.seq);
    expect((await session.window(SMALL).look()).parts.pins).toBe(0);
  });

  test("looking at the window of a session does not change it", async () => {
    const session = await (await testKernel()).session();
    await work(session, 60);
    const { seq } = await session.head();
    const window = session.window(SMALL);
    const before = await window.look();
    expect(before.messages).toHaveLength(121);
    const dry = await window.fit({ dryRun: true });
    expect(dry.plan?.receipt.tokens.with).toBe(dry.tokens);
    expect(dry.plan?.overlay).toBeUndefined();
    expect((await session.head()).seq).toBe(seq);
    expect(shown(await window.look())).toBe(shown(before));
  });

  test("the window of a fork begins with the window of its parent, edits included", async () => {
    const session = await (await testKernel()).session("parent");
    await work(session, 60);
    const parents = await session.window(SMALL).fit();
    const fork = await session.fork({ id: "fork" });
    const forked = await fork.window(SMALL).look();
    expect(shown(forked)).toBe(shown(parents));
    await work(fork, 60, 1_000);
    const fitted = await fork.window(SMALL).fit();
    expect(fitted.plan).toBeDefined();
    expect(fitted.tokens).toBeLessThanOrEqual(fitted.limits.most);
    expect(shown(await (await fork.window(SMALL)).look())).toBe(shown(fitted));
    expect(shown(await session.window(SMALL).look())).toBe(shown(parents));
  });

  test("the window of a session shows replaced and removed messages in the order of the line", async () => {
    const session = await (await testKernel()).session();
    await work(session, 60);
    await session.window(SMALL).fit();
    const said = await session.append({ role: "user", text: "teh last request" });
    await session.appendAll(step(200));
    await session.replace(said.seq, { role: "user", text: "the last request" });
    const window = session.window(SMALL);
    const fitted = await window.fit();
    const texts = fitted.messages.map(({ parts }) => JSON.stringify(parts));
    expect(texts.at(-3)).toContain("the last request");
    expect(texts.join()).not.toContain("teh last request");
    await work(session, 60, 300);
    const next = await window.fit();
    expect(next.tokens).toBeLessThanOrEqual(next.limits.most);
    expect(shown(await session.window(SMALL).look())).toBe(shown(next));
  });

  test("the window of a session is the same for two handles that write in turn", async () => {
    const path = testFolder();
    const one = await (await testKernel({ path })).session("shared");
    const two = await (await testKernel({ path })).session("shared");
    const windows: readonly [Session, ReturnType<Session["window"]>][] = [
      [one, one.window(SMALL)],
      [two, two.window(SMALL)],
    ];
    for (let number = 0; number < 40; number++) {
      const [session, window] = windows[number % 2] as (typeof windows)[number];
      await work(session, 1, number);
      const fitted = await window.fit();
      expect(fitted.tokens).toBeLessThanOrEqual(fitted.limits.most);
    }
    const looks = [await windows[0]?.[1].look(), await windows[1]?.[1].look()] as FittedWindow[];
    expect(shown(looks[0] as FittedWindow)).toBe(shown(looks[1] as FittedWindow));
  });

  test("the window of a session fits although messages arrive while its edit is stored", async () => {
    const session = await (await testKernel()).session();
    await work(session, 60);
    const arriving: Promise<unknown>[] = [];
    const policy: Policy = {
      name: "slow",
      start(_limits, _tokensOf, { window = [] } = {}) {
        const slots = [...window];
        const fit = () => {
          if (arriving.length < 3)
            arriving.push(session.appendAll(Array.from({ length: 60 }, (_, at) => step(100 + at)).flat()));
          return [slots[0] as Slot, ...slots.slice(-4)];
        };
        return { observe: (slot) => void slots.push(slot), fit };
      },
    };
    const { tokens, limits, slots } = await session.window({ ...SMALL, policy }).fit();
    await Promise.all(arriving);
    expect(tokens).toBeLessThanOrEqual(limits.most);
    expect(slots.at(-1)?.seq).toBeGreaterThan(121);
  });

  proofTest("the window of a session is fitted and compacted while others keep appending", async () => {
    const session = await (await testKernel()).session();
    await work(session, 60);
    let isOver = false;
    const writing = (async () => {
      for (let number = 1_000; !isOver && number < 5_000; number++) await session.appendAll(step(number, 1));
    })();
    const window = session.window(SMALL);
    try {
      const { tokens, limits } = await window.fit();
      expect(tokens).toBeLessThanOrEqual(limits.most);
      // The content just fitted is too short to be worth a summary.
      await work(session, 60);
      expect((await session.compact())?.overlay).toBeDefined();
    } finally {
      isOver = true;
      await writing;
    }
    const { tokens, limits } = await window.fit();
    expect(tokens).toBeLessThanOrEqual(limits.most);
  });

  test("the window of a session far longer than any window keeps its first request and fits", async () => {
    const session = await (await testKernel()).session();
    await session.append({ role: "user", text: "The very first request." });
    for (let batch = 0; batch < 20; batch++)
      await session.appendAll(Array.from({ length: 100 }, (_, at) => step(batch * 100 + at)).flat());
    const fitted = await session.window(SMALL).fit();
    expect(fitted.tokens).toBeLessThanOrEqual(fitted.limits.most);
    expect(JSON.stringify(fitted.messages[0])).toContain("The very first request.");
    expect(fitted.plan?.receipt.left.entries).toBeGreaterThan(3_000);
    expect(shown(await session.window(SMALL).look())).toBe(shown(fitted));
  });

  test("the window of a session restores messages that were too large for the log", async () => {
    const session = await (await testKernel()).session();
    const text = "a long story ".repeat(8_000);
    await session.append({ role: "user", text });
    const { messages } = await session.window({ model: "claude-sonnet-4-5" }).fit();
    expect(messages[0]?.parts[0]).toEqual({ type: "text", text });
  });

  test("the summaries and extracts in the window of a session lose redacted words", async () => {
    const session = await (await testKernel()).session();
    await session.append({ role: "user", text: "Please begin." });
    const secret = await session.append({ role: "user", text: "The token is SECRET_kumquat_4711." });
    await work(session, 30, 10);
    await session.compact();
    await work(session, 60, 100);
    const window = session.window(SMALL);
    expect(JSON.stringify((await window.fit()).messages)).toContain("kumquat");
    const byHand = { type: "hide", ranges: [{ session: session.id, from: 5, to: 5 }] } as const;
    await session.overlays.add(byHand, "by hand");
    await session.redact(secret.seq, "a password");
    expect(JSON.stringify((await window.fit()).messages)).not.toContain("kumquat");
    expect(JSON.stringify(await session.read({ from: 1, limit: 1_000 }))).not.toContain("kumquat");
    const holding = (await session.overlays.list()).filter(({ isHolding }) => isHolding);
    expect(holding.map(({ entry }) => entry.reason)).toContain("by hand");
  });

  test("the window of a session drops redacted words", async () => {
    const session = await (await testKernel()).session();
    const window = session.window(SMALL);
    const secret = await session.append({ role: "user", text: "The password is hunter2." });
    await session.append({ role: "user", text: "Go on." });
    await window.fit();
    await session.redact(secret.seq);
    expect(shown(await window.fit())).not.toContain("hunter2");
  });

  test("the window of a session drops words that another process redacts, also from edits to come", async () => {
    const path = testFolder();
    const session = await (await testKernel({ path })).session("shared");
    const window = session.window(SMALL);
    const secret = await session.append({ role: "user", text: "The token is SECRET_kumquat_4711." });
    await work(session, 5);
    await window.fit();
    await (await (await testKernel({ path })).session("shared")).redact(secret.seq);
    await work(session, 60, 10);
    const fitted = await window.fit();
    expect(fitted.plan).toBeDefined();
    expect(shown(fitted)).not.toContain("kumquat");
    expect(JSON.stringify(await session.read({ from: 1, limit: 1_000 }))).not.toContain("kumquat");
  });

  test("the window of a session leaves room for what a caller adds to the messages just fitted", async () => {
    const session = await (await testKernel()).session();
    for (let number = 0; number < 20; number++) {
      const text = `Message ${number}: ${"some words ".repeat(180)}`;
      await session.append({ role: number % 2 === 0 ? "user" : "assistant", text });
    }
    const window = session.window(SMALL);
    const { tokens, limits, plan } = await window.fit();
    expect(plan).toBeUndefined();
    const besides = limits.most - tokens + 1_000;
    const { tokens: fewer } = await window.fit({ besides });
    expect(fewer + besides).toBeLessThanOrEqual(limits.most);
  });
});

describe("limits", () => {
  proofTest("protected messages that do not fit throw an error at once", async () => {
    const session = await (await testKernel()).session();
    await session.append({ role: "user", text: "word ".repeat(40_000) });
    const { seq } = await session.head();
    await expect(session.window(SMALL).fit()).rejects.toMatchObject({ code: "WINDOW_FLOOR" });
    expect((await session.head()).seq).toBe(seq);
    await expect(session.window({ ...SMALL, oversize: "clip" }).fit()).rejects.toMatchObject({
      code: "WINDOW_FLOOR",
    });
    await session.append({ role: "assistant", text: "I see." });
    await session.append({ role: "user", text: "And what follows from it?" });
    const clipped = await session.window({ ...SMALL, oversize: "clip" }).fit();
    expect(clipped.tokens).toBeLessThanOrEqual(clipped.limits.most);
    expect(JSON.stringify(clipped.messages)).toContain("And what follows from it?");
  });

  test("a threshold makes edits begin earlier, also for a single model", async () => {
    const session = await (await testKernel()).session();
    await work(session, 12);
    const whole = await session.window(SMALL).fit({ dryRun: true });
    expect(whole.plan).toBeUndefined();
    const early = await session.window({ ...SMALL, threshold: 30 }).fit({ dryRun: true });
    expect(early.tokens).toBeLessThanOrEqual(16_000 * 0.3);
    const models = { "claude-*": { window: 16_000 }, "claude-sonnet-*": { threshold: 30 } };
    const single = await session.window({ ...SMALL, models }).fit({ dryRun: true });
    expect(single.tokens).toBe(early.tokens);
    expect(() => session.window({ ...SMALL, threshold: 3 })).toThrow(/threshold/);
    const few = await session.window({ ...SMALL, maxMessages: 10 }).fit({ dryRun: true });
    expect(few.messages.length).toBeLessThanOrEqual(10);
  });

  test("the oldest pictures beyond their limit leave", async () => {
    const session = await (await testKernel()).session();
    const picture = (byte: number) => {
      const bytes = Buffer.alloc(40_000, byte);
      Buffer.from("89504e470d0a1a0a", "hex").copy(bytes);
      return { type: "data", data: bytes, mime: "image/png" } as const;
    };
    for (let at = 0; at < 10; at++) {
      await session.append({ role: "user", parts: [{ type: "text", text: `Look ${at}` }, picture(at)] });
      await session.append({ role: "assistant", text: `I saw ${at}` });
    }
    const window = session.window({ model: "claude-sonnet-4-5", images: { maxBytes: 200_000 } });
    const fitted = await window.fit();
    const pictures = fitted.messages.map(({ parts }) => parts.some(({ type }) => type === "blob"));
    expect(pictures.flatMap((has, at) => (has ? [at] : []))).toEqual([0, 14, 16, 18]);
    expect(shown(fitted)).toContain("to see it: expand");
    const again = await window.fit();
    expect(again.plan).toBeUndefined();
    expect(shown(again)).toBe(shown(fitted));
  });
});
