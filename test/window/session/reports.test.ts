import { describe, expect, test } from "vitest";
import type { WindowOptions } from "../../../src/kernel/faces/window.ts";
import type { FittedWindow, Session } from "../../../src/kernel/index.ts";
import { testKernel } from "../../support/kernel.ts";
import { proofTest } from "../../support/proof.ts";
import { SMALL, work } from "./history.ts";

const CLAUDE: WindowOptions = { model: "claude-sonnet-4-5", system: "Be brief.", tools: [] };
const refused = (message: string) => ({
  status: 400,
  body: { type: "error", error: { type: "invalid_request_error", message } },
});

async function talked(turns: number): Promise<Session> {
  const session = await (await testKernel()).session();
  for (let turn = 0; turn < turns; turn++)
    await session.appendAll([
      { role: "user", text: `Question ${turn}: ${"how does it go on from here? ".repeat(40)}` },
      { role: "assistant", text: `Answer ${turn}: ${"it goes on like this. ".repeat(40)}` },
    ]);
  await session.append({ role: "user", text: "And what did I ask first?" });
  return session;
}

const sizeOf = ({ messages }: FittedWindow) => JSON.stringify(messages).length;

describe("a usage report", () => {
  test("an impossible usage report changes nothing, and is stored as received", async () => {
    const session = await talked(6);
    const window = session.window(CLAUDE);
    const before = await window.fit();
    const entry = await window.report({ inputTokens: 185_000, outputTokens: 5 });
    expect(entry.usage.inputTokens).toBe(185_000);
    expect(entry.meta).toMatchObject({ longhaul: { isUnreliable: true } });
    const after = await window.fit();
    expect([after.tokens, sizeOf(after)]).toEqual([before.tokens, sizeOf(before)]);
    expect(after.plan).toBeUndefined();
  });

  test("impossible usage reports in an older log do not affect the session when it is reopened", async () => {
    const session = await talked(6);
    const plain = await session.window(CLAUDE).look();
    const intake = await session.intake("an older version");
    const reports = [185_000, 190_000, 185_000].map((inputTokens) => ({
      body: {
        kind: "usage" as const,
        usage: { inputTokens, outputTokens: 5 },
        model: CLAUDE.model,
        meta: { longhaul: { estimatedTokens: 3_000 } },
      },
    }));
    await intake.append(reports);
    const opened = session.window(CLAUDE);
    const fitted = await opened.fit();
    expect(fitted.plan).toBeUndefined();
    expect(fitted.tokens).toBe(plain.tokens);
  });

  test("a usage report of a reply with tools run by the provider does not change the estimate", async () => {
    const session = await talked(6);
    const window = session.window(CLAUDE);
    const before = await window.fit();
    await window.report({ inputTokens: 2 * before.tokens }, { ranServerTools: true });
    expect((await window.fit()).tokens).toBe(before.tokens);
    await window.report({ inputTokens: Math.round(1.2 * before.tokens) });
    expect((await window.fit()).tokens).toBe(Math.round(1.2 * before.tokens));
  });

  test("a usage report of 0 tokens does not change the estimate", async () => {
    const session = await talked(3);
    const window = session.window(CLAUDE);
    const before = await window.fit();
    window.buildReport({ inputTokens: 0, cacheReadTokens: 50_000 });
    await window.report({ inputTokens: 0, outputTokens: 1 });
    expect((await window.fit()).tokens).toBe(before.tokens);
  });

  test.each([-100, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 1e308])(
    "a usage report of %d tokens is refused",
    async (count) => {
      const session = await talked(3);
      const window = session.window(CLAUDE);
      const before = await window.fit();
      const { seq } = await session.head();
      for (const usage of [
        { inputTokens: count },
        { outputTokens: count },
        { otherCalls: [{ inputTokens: count }] },
      ])
        await expect(window.report(usage)).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
      expect((await session.head()).seq).toBe(seq);
      expect((await window.fit()).tokens).toBe(before.tokens);
    },
  );

  test("a usage report for Chinese text or a finer tokenizer changes the estimate", async () => {
    const session = await (await testKernel()).session();
    for (let turn = 0; turn < 5; turn++)
      await session.appendAll([
        { role: "user", text: "请把这个项目的文档整理一下，然后告诉我下一步应该做什么。".repeat(30) },
        { role: "assistant", text: "好的，我已经整理好了，下一步请检查测试的结果。".repeat(30) },
      ]);
    await session.append({ role: "user", text: "继续" });
    const window = session.window(CLAUDE);
    const { tokens } = await window.fit();
    await window.report({ inputTokens: Math.round(tokens * 1.9) });
    expect((await window.fit()).tokens).toBe(Math.round(tokens * 1.9));
  });
});

describe("an overflow error", () => {
  proofTest("an overflow error with impossible numbers cuts no more than one without numbers", async () => {
    const [told, untold] = [await talked(30), await talked(30)].map((session) =>
      session.window({ ...CLAUDE, oversize: "clip" }),
    );
    const absurd = "prompt is too long: 900000 tokens > 1000 maximum";
    await told?.fit();
    await untold?.fit();
    const [one, other] = [
      await told?.heal(refused(absurd)),
      await untold?.heal(refused("prompt is too long")),
    ];
    expect((one as FittedWindow).tokens).toBe((other as FittedWindow).tokens);
  });

  test("an overflow error about the output lowers the output and keeps every message", async () => {
    const session = await talked(6);
    const window = session.window({ ...CLAUDE, maxOutputTokens: 63_900 });
    const before = await window.fit();
    const words = (output: number) =>
      refused(
        `input length and \`max_tokens\` exceed context limit: ${before.tokens} + ${output} > 64000, decrease input length or \`max_tokens\` and try again`,
      );
    const healed = (await window.heal(words(63_900))) as FittedWindow;
    expect(healed.maxOutputTokens).toBe(64_000 - before.tokens);
    expect([healed.plan, sizeOf(healed)]).toEqual([undefined, sizeOf(before)]);
    // A caller that requests the same output again gets an error that names the supported limit.
    await expect(window.heal(words(63_900))).rejects.toMatchObject({
      code: "WINDOW_OVERFLOW",
      details: { maxOutputTokens: 64_000 - before.tokens },
    });
    await window.report({ inputTokens: before.tokens, outputTokens: 5 });
    expect((await window.fit()).maxOutputTokens).toBeUndefined();
  });

  test("a large requested output does not shrink the window before anything is sent", async () => {
    const session = await talked(6);
    const models = { "claude-*": { window: 64_000 } };
    const fitted = await session.window({ ...CLAUDE, models, maxOutputTokens: 63_900 }).fit();
    expect(fitted.plan).toBeUndefined();
    expect(fitted.limits.reserve).toBe(8_000);
    const modest = await session.window({ ...CLAUDE, models, maxOutputTokens: 12_000 }).fit();
    expect(modest.limits.reserve).toBe(12_000);
  });

  test("an overflow error that persists leaves the window unchanged, and is not retried", async () => {
    const session = await (await testKernel()).session();
    await work(session, 20);
    const window = session.window(SMALL);
    let sent = await window.fit();
    const whole = await window.look();
    const tooLong = (tokens: number) =>
      refused(`prompt is too long: ${tokens} tokens > ${tokens - 1} maximum`);
    let tries = 0;
    const sizes = [sizeOf(sent)];
    for (;;) {
      const healed = await window.heal(tooLong(sent.tokens)).catch(() => undefined);
      if (!healed) break;
      sent = healed;
      sizes.push(sizeOf(sent));
      tries++;
    }
    expect(tries).toBeLessThanOrEqual(3);
    expect(new Set(sizes).size).toBe(sizes.length);
    const after = await window.fit();
    expect(after.messages).toEqual(whole.messages);
    await expect(window.heal(tooLong(after.tokens))).rejects.toMatchObject({ code: "WINDOW_OVERFLOW" });
    expect((await window.fit()).messages).toEqual(whole.messages);
    await window.report({ inputTokens: after.tokens, outputTokens: 5 });
    await session.append({ role: "assistant", text: "Done." });
    await session.append({ role: "user", text: "And now the next thing." });
    const { tokens } = await window.fit();
    expect(await window.heal(tooLong(tokens))).toBeDefined();
  });
});
