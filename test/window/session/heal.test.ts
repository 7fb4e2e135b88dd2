import { describe, expect, test } from "vitest";
import type { FittedWindow } from "../../../src/kernel/index.ts";
import { testKernel } from "../../support/kernel.ts";
import { proofTest } from "../../support/proof.ts";
import { SMALL, step, work } from "./history.ts";

const shown = ({ messages }: FittedWindow) => JSON.stringify(messages);
const overflow = (tokens: number, limit: number) => ({
  status: 400,
  body: {
    type: "error",
    error: {
      type: "invalid_request_error",
      message: `prompt is too long: ${tokens} tokens > ${limit} maximum`,
    },
  },
});

/** An overflow without numbers. */
const TOO_LONG = { status: 400, body: { error: { message: "prompt is too long" } } };

describe("healing", () => {
  test("healing answers an overflow with a smaller window three times at most, and then with an error", async () => {
    const session = await (await testKernel()).session();
    await work(session, 90);
    const window = session.window({ ...SMALL, system: 100, models: { "claude-*": { window: 60_000 } } });
    let { tokens } = await window.fit();
    for (let tries = 0; tries < 3; tries++) {
      const healed = (await window.heal(overflow(tokens + 100, tokens))) as FittedWindow;
      expect(healed.plan).toBeDefined();
      const sent = healed.messages.reduce((sum, { parts }) => sum + JSON.stringify(parts).length, 0);
      expect(sent).toBeGreaterThan(0);
      tokens = healed.tokens;
    }
    await expect(window.heal(overflow(tokens + 100, tokens))).rejects.toMatchObject({
      code: "WINDOW_OVERFLOW",
    });
    await window.report({ inputTokens: 3_000, outputTokens: 5 });
    expect((await window.fit()).messages.length).toBeGreaterThan(0);
  });

  test("a reply ends healing, so that the next request is not forced and has its own tries", async () => {
    const session = await (await testKernel()).session();
    await work(session, 15);
    const window = session.window(SMALL);
    for (let round = 0; round < 5; round++) {
      const { tokens } = await window.fit();
      expect(await window.heal(overflow(tokens, 13_000))).toBeDefined();
      await work(session, 3, 100 * (round + 1));
    }
    const { tokens } = await window.fit();
    expect(tokens).toBeGreaterThan(0);
  });

  test("each try of healing is at most three quarters of the refused window", async () => {
    const session = await (await testKernel()).session();
    await work(session, 15);
    const window = session.window(SMALL);
    const { tokens } = await window.fit();
    const healed = await window.heal(overflow(tokens, 10_000));
    expect(healed?.tokens).toBeLessThanOrEqual(tokens * 0.75);
  });

  test("messages that leave a window are named in the same step, however small the window is", async () => {
    for (const steps of [3, 6, 15, 40, 90]) {
      const session = await (await testKernel()).session();
      await work(session, steps);
      const window = session.window({
        ...SMALL,
        oversize: "clip",
        models: { "claude-*": { window: 60_000 } },
      });
      const { tokens } = await window.fit();
      const healed = (await window.heal(overflow(tokens + 100, tokens))) as FittedWindow;
      expect(shown(healed)).toMatch(/messages left out: #\d+–#\d+, /);
      expect(shown(healed)).toMatch(/expand #\d+/);
    }
  });

  test("content that left a window under force can return in the next turn", async () => {
    const session = await (await testKernel()).session();
    await session.append({ role: "user", text: "Please guard the castle." });
    await session.appendAll([
      {
        role: "assistant",
        parts: [{ type: "tool-call", callId: "castle", name: "read", input: { path: "src/castle.ts" } }],
      },
      {
        role: "tool",
        parts: [{ type: "tool-result", callId: "castle", output: "const boundaryOfTheCastle = 7781;" }],
      },
      ...[1, 2, 3, 4].map((time) => ({
        role: "assistant" as const,
        text: `boundaryOfTheCastle in src/castle.ts is what counts (${time}).`,
      })),
    ]);
    await work(session, 12, 1);
    const window = session.window({ ...SMALL, oversize: "clip", models: { "claude-*": { window: 60_000 } } });
    let { tokens } = await window.fit();
    for (let tries = 0; tries < 3; tries++) {
      const healed = (await window.heal(TOO_LONG)) as FittedWindow;
      ({ tokens } = healed);
    }
    await window.report({ inputTokens: tokens, outputTokens: 5 });
    // The refused size caps the rest of the turn; the next turn is free of it.
    await session.append({ role: "user", text: "Go on with the rest." });
    let rebuilt: FittedWindow | undefined;
    for (let number = 200; !rebuilt?.plan && number < 400; number++) {
      await session.appendAll(step(number, 300));
      rebuilt = await window.fit();
    }
    expect(rebuilt?.plan).toBeDefined();
    expect(shown(rebuilt as FittedWindow).includes("boundaryOfTheCastle")).toBe(true);
  });

  test("a healed window leaves room for content that is sent next to it", async () => {
    const session = await (await testKernel()).session();
    await work(session, 15);
    const [plain, other] = [session.window(SMALL), session.window(SMALL)];
    const { tokens, roomTokens, limits } = await plain.fit();
    expect(roomTokens).toBeGreaterThan(0);
    expect(tokens + roomTokens).toBeLessThanOrEqual(limits.most);
    await other.fit();
    other.sendsBesides(2_000);
    const alone = await plain.heal(overflow(tokens, 12_000));
    const beside = await other.heal(overflow(tokens, 12_000));
    expect((beside as FittedWindow).tokens).toBeLessThan((alone as FittedWindow).tokens);
  });

  proofTest(
    "a picture that the provider rejects is replaced by a stub once, and the log keeps it",
    async () => {
      const session = await (await testKernel()).session();
      const bytes = Buffer.alloc(50_000);
      Buffer.from("89504e470d0a1a0a", "hex").copy(bytes);
      await session.append({
        role: "user",
        parts: [
          { type: "text", text: "What is on this?" },
          { type: "data", data: bytes, mime: "image/png" },
        ],
      });
      const window = session.window(SMALL);
      await window.fit();
      const failure = {
        status: 400,
        body: {
          type: "error",
          error: {
            type: "invalid_request_error",
            message: "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum",
          },
        },
      };
      const healed = (await window.heal(failure)) as FittedWindow;
      expect(healed.messages[0]?.parts[1]).toMatchObject({ type: "text" });
      expect(shown(healed)).toContain("rejected");
      expect(await window.heal(failure)).toBeUndefined();
      await window.report({ inputTokens: 100, outputTokens: 5 });
      await work(session, 60);
      expect(shown(await window.fit())).not.toContain('"mime"');
      const kept = await session.entry(1);
      expect(kept?.kind === "message" && kept.message.parts[1]).toMatchObject({ type: "blob" });
    },
  );

  test("healing leaves errors that do not concern the window to the caller", async () => {
    const session = await (await testKernel()).session();
    await work(session, 2);
    const window = session.window(SMALL);
    await window.fit();
    expect(await window.heal({ status: 429, body: { error: { message: "rate limit" } } })).toBeUndefined();
    expect(await window.heal({ status: 500, message: "oops" })).toBeUndefined();
  });

  test("healing learns from reports how the provider counts", async () => {
    const session = await (await testKernel()).session();
    await work(session, 10);
    const window = session.window({ model: "claude-sonnet-4-5" });
    const first = await window.fit();
    await window.report({ inputTokens: Math.round(first.tokens * 1.4), outputTokens: 10 }, { request: "r1" });
    const next = await window.fit();
    expect(next.tokens / first.tokens).toBeCloseTo(1.4, 1);
    const reopened = await session.window({ model: "claude-sonnet-4-5" }).look();
    expect(reopened.tokens).toBe(next.tokens);
  });

  test("the cache counts as hot after a report of cache reads, and as cold after some time", async () => {
    let now = 1_000_000;
    const kernel = await testKernel({ path: ":memory:", clock: { now: () => now } });
    const session = await kernel.session();
    await work(session, 3);
    const window = session.window(SMALL);
    expect((await window.fit()).cache).toBe("unknown");
    await window.report({ inputTokens: 10, cacheReadTokens: 900, cacheWriteTokens: 100, outputTokens: 5 });
    expect((await window.fit()).cache).toBe("hot");
    now += 6 * 60_000;
    expect((await window.fit()).cache).toBe("cold");
    await window.report({ inputTokens: 10, cacheWriteTokens: 900, cacheWriteHourTokens: 900 });
    now += 50 * 60_000;
    expect((await window.fit()).cache).toBe("hot");
    const other = session.window({ ...SMALL, model: "claude-opus-4-5" });
    expect((await other.fit()).cache).toBe("cold");
  });

  proofTest(
    "an overflow without numbers cuts to three quarters of the last request, and then to three quarters of that",
    async () => {
      const session = await (await testKernel()).session();
      for (let turn = 0; turn < 60; turn++) {
        await session.append({ role: "user", text: `Question ${turn}: ${`word${turn} `.repeat(80)}` });
        await session.append({ role: "assistant", text: `Answer ${turn}: ${`reply${turn} `.repeat(80)}` });
      }
      await session.append({ role: "user", text: "And what now?" });
      const window = session.window({ model: "claude-sonnet-4-5" });
      const { tokens } = await window.fit();
      for (const share of [0.75, 0.75 ** 2]) {
        const { tokens: healed } = (await window.heal(TOO_LONG)) as FittedWindow;
        expect(healed / tokens).toBeLessThanOrEqual(share);
        expect(healed / tokens).toBeGreaterThan(share - 0.03);
      }
    },
  );

  test("an overflow that names a limit cuts to the limit less the reserve, and later windows stay within it", async () => {
    for (const steps of [60, 0]) {
      const session = await (await testKernel()).session();
      for (let turn = 0; turn < 60 - steps; turn++) {
        await session.append({ role: "user", text: `Question ${turn}: ${`word${turn} `.repeat(80)}` });
        await session.append({ role: "assistant", text: `Answer ${turn}: ${`reply${turn} `.repeat(80)}` });
      }
      await work(session, Math.max(steps, 1));
      const window = session.window({ model: "claude-sonnet-4-5", maxOutputTokens: 1_000 });
      const { tokens } = await window.fit();
      const limit = Math.round(tokens * 0.8);
      const healed = (await window.heal(overflow(tokens, limit))) as FittedWindow;
      expect(healed.tokens).toBeLessThanOrEqual(limit - 1_000);
      expect(healed.tokens).toBeGreaterThan((limit - 1_000) * 0.7);
      await window.report({ inputTokens: healed.tokens, outputTokens: 5 });
      await work(session, 8, 500);
      expect((await window.fit()).tokens).toBeLessThanOrEqual(limit);
    }
  });

  test("a turn allows three heals, whichever handle makes them, and the next question allows three more", async () => {
    const session = await (await testKernel()).session();
    await work(session, 60);
    for (let heal = 0; heal < 3; heal++) {
      const window = session.window({ model: "claude-sonnet-4-5" });
      await window.fit();
      expect(await window.heal(TOO_LONG)).toBeDefined();
      await window.report({ inputTokens: 3_000, outputTokens: 5 });
      await session.appendAll(step(100 + heal));
    }
    const window = session.window({ model: "claude-sonnet-4-5" });
    const before = await window.fit();
    await expect(window.heal(TOO_LONG)).rejects.toMatchObject({ code: "WINDOW_OVERFLOW" });
    expect((await window.fit()).messages).toEqual(before.messages);
    await work(session, 2, 200);
    await window.fit();
    expect(await window.heal(TOO_LONG)).toBeDefined();
  });

  test("a call and a result that an edit has separated are mended by sending the conversation unedited", async () => {
    const session = await (await testKernel()).session();
    await work(session, 40);
    const window = session.window({ model: "claude-sonnet-4-5" });
    const whole = await window.look();
    await window.fit();
    expect((await window.heal(TOO_LONG))?.plan).toBeDefined();
    const torn = {
      status: 400,
      body: {
        error: {
          message: "messages.3.content.0: unexpected `tool_use_id` found in `tool_result` blocks: call-20.",
        },
      },
    };
    const asItCame = (await window.heal(torn)) as FittedWindow;
    expect(asItCame.messages).toEqual(whole.messages);
    expect(asItCame.defect).toContain("call-20");
    expect((await session.window({ model: "claude-sonnet-4-5" }).look()).messages).toEqual(whole.messages);
  });

  test("a call and a result that an edit has separated leave together where the unedited conversation does not fit", async () => {
    const session = await (await testKernel()).session();
    await work(session, 40);
    const window = session.window(SMALL);
    const fitted = await window.fit();
    expect(fitted.plan).toBeDefined();
    const [, callId] = /"callId":"(call-\d+)"/.exec(shown(fitted)) as RegExpExecArray;
    const message = `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${callId}.`;
    const healed = (await window.heal({ status: 400, body: { error: { message } } })) as FittedWindow;
    expect(healed.defect).toBe(message);
    expect(shown(healed)).not.toContain(`"callId":"${callId}"`);
    await window.report({ inputTokens: 3_000, outputTokens: 5 });
    await work(session, 1, 300);
    expect(shown(await session.window(SMALL).fit())).not.toContain(`"callId":"${callId}"`);
  });

  test("a call and a result that the caller itself has separated do not count as a defect of an edit", async () => {
    const session = await (await testKernel()).session();
    await session.append({ role: "user", text: "Go on." });
    await session.append({
      role: "tool",
      parts: [{ type: "tool-result", callId: "lost", output: "an output without its call" }],
    });
    await work(session, 5);
    const window = session.window(SMALL);
    await window.fit();
    const message = "messages.1: unexpected `tool_use_id` found in `tool_result` blocks: lost.";
    expect((await window.heal({ status: 400, body: { error: { message } } }))?.defect).toBeUndefined();
  });
});
