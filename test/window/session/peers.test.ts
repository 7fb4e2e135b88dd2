import { describe, expect, test } from "vitest";
import { tokensOfMessage } from "../../../src/kernel/faces/window.ts";
import type { Session, SessionWindow } from "../../../src/kernel/index.ts";
import { testKernel } from "../../support/kernel.ts";
import { proofCases, proofTest, sizedTest } from "../../support/proof.ts";

const words = (turn: number) => `Turn ${turn} says: ${"alpha beta gamma delta ".repeat(40)}`;

/** The PNG signature. */
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

async function sessionOf(window: number): Promise<Session> {
  const kernel = await testKernel({
    path: ":memory:",
    models: { "some-model": { window, maxOutput: 1_000 } },
  });
  return kernel.session();
}

/**
 * Appends turns until the window is edited; the provider counts `factor` times our estimate. Returns its
 * last count before the edit.
 */
async function countAtEdit(session: Session, window: SessionWindow, factor: number): Promise<number> {
  for (let turn = 0; ; turn++) {
    await session.append({ role: "user", text: words(turn) });
    const before = (await window.look()).messages;
    const { messages, plan } = await window.fit();
    const count = (some: typeof messages) =>
      Math.round(some.reduce((sum, message) => sum + tokensOfMessage(message), 0) * factor);
    if (plan) return count(before);
    await window.report({ inputTokens: count(messages), outputTokens: 20 });
    await session.append({ role: "assistant", text: words(turn) });
  }
}

describe("cline in a live window", () => {
  sizedTest.each(
    proofCases([
      [64_000, 37_000, 1.4],
      [64_000, 37_000, 0.8],
      [128_000, 98_000, 1.4],
      [200_000, 160_000, 1.2],
      [100_000, 80_000, 1.2],
    ]),
  )(
    "cline in a live window of %i tokens makes its first edit at %i tokens of a provider that counts %f times our estimate",
    async (size, allowed, factor) => {
      const session = await sessionOf(size);
      const window = session.window({ model: "some-model", policy: "cline", reserveTokens: 1_000 });
      const count = await countAtEdit(session, window, factor);
      expect(count).toBeGreaterThan(allowed * 0.99);
      expect(count).toBeLessThan(allowed * 1.02);
    },
  );
});

describe("openclaw in a live window", () => {
  sizedTest.each(
    proofCases(
      [
        [8_000, 20],
        [15_999, 20],
        [16_000, 50],
        [64_000, 50],
        [70_000, 100],
        [128_000, 100],
        [140_000, 200],
        [400_000, 200],
      ],
      4,
    ),
  )(
    "openclaw in a live window of %i tokens keeps at most %i messages from the first fit on",
    async (size, most) => {
      const session = await sessionOf(size);
      for (let turn = 0; turn < 300; turn++)
        await session.append({ role: turn % 2 === 0 ? "user" : "assistant", text: `m${turn}` });
      await session.append({ role: "user", text: "And now?" });
      const { messages, plan } = await session
        .window({ model: "some-model", policy: "openclaw", paging: false })
        .fit();
      expect(messages.length).toBeGreaterThan(most - 3);
      expect(messages.length).toBeLessThanOrEqual(most);
      expect(plan?.reason).toBe(`more than ${most} messages`);
    },
  );
});

describe("the reason of an edit", () => {
  proofTest("the reason of an edit is the policy's even if only new messages were edited", async () => {
    const session = await sessionOf(64_000);
    const window = session.window({ model: "some-model", policy: "cline" });
    await session.append({ role: "user", text: "Start." });
    await session.append({ role: "assistant", text: "Yes." });
    await window.fit();
    for (let turn = 0; turn < 9; turn++) {
      const callId = `c${turn}`;
      const output = Array.from(
        { length: 700 },
        (_, line) => `${line + 1}\tconst alpha_${line} = ${line};`,
      ).join("\n");
      await session.append({
        role: "assistant",
        parts: [{ type: "tool-call", callId, name: "read_file", input: { path: "a.ts" } }],
      });
      await session.append({ role: "tool", parts: [{ type: "tool-result", callId, output }] });
    }
    await session.append({ role: "user", text: "Go on." });
    expect((await window.fit()).plan?.reason).toBe("read again later");
  });

  test("the reason of an edit names removed images next to the policy's own reason", async () => {
    const session = await sessionOf(64_000);
    const window = session.window({ model: "some-model", policy: "openclaw", images: { maxCount: 1 } });
    for (let turn = 0; turn < 30; turn++) {
      const data = Buffer.concat([PNG, Buffer.from(`picture ${turn}`)]);
      await session.append({ role: "user", parts: [{ type: "data", data, mime: "image/png" }] });
      await session.append({ role: "assistant", text: `m${turn}` });
    }
    await session.append({ role: "user", text: "And now?" });
    expect((await window.fit()).plan?.reason).toBe("more than 50 messages, images beyond the limit");
  });
});
