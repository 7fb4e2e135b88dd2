import { describe, expect, test } from "vitest";
import { type FittedWindow, openKernel, type Session } from "../../../src/kernel/index.ts";
import { testFolder } from "../../support/folder.ts";
import { testKernel } from "../../support/kernel.ts";
import { proofCases, proofTest, sizedTest } from "../../support/proof.ts";
import { SMALL, step } from "./history.ts";

const FACT =
  "Gladly. The staging database of the heron project listens on port 50432,\nand its password is in the blue vault.";
/** As long as other messages, so that it is not kept because it is short. */
const NOTE = `${FACT}\n${"The heron project has many more databases, all of them documented elsewhere. ".repeat(25)}`;
const QUESTION = "On which port does the staging database of the heron project listen?";
const SUBJECTS = [
  "gardening",
  "rail travel",
  "sourdough",
  "astronomy",
  "chess",
  "ceramics",
  "sailing",
  "jazz",
];

/** Messages unrelated to the fact. */
async function talk(session: Session, turns: number, from = 0): Promise<void> {
  for (let turn = from; turn < from + turns; turn++) {
    const subject = SUBJECTS[turn % SUBJECTS.length];
    await session.append({ role: "user", text: `Tell me more about ${subject}, part ${turn}.` });
    const text = `About ${subject}: ${`a remark on ${subject} number ${turn} that goes on. `.repeat(40)}`;
    await session.append({ role: "assistant", text });
  }
}

async function longTalk(session: Session): Promise<void> {
  await session.append({ role: "user", text: "Hello, let us talk." });
  await session.append({ role: "assistant", text: NOTE });
  await talk(session, 60);
  // The fact leaves the window before the question is asked.
  await session.window(SMALL).fit();
}

const sent = ({ messages }: FittedWindow) => JSON.stringify(messages);
const quoted = (text: string) => JSON.stringify(text).slice(1, -1);

describe("pages of a window", () => {
  proofTest(
    "a fact that left the window comes back word for word, with its source, when the newest message asks for it",
    async () => {
      const session = await (await testKernel()).session("talk");
      await longTalk(session);
      await session.append({ role: "user", text: QUESTION });
      const fitted = await session.window(SMALL).fit();
      expect(fitted.tokens).toBeLessThanOrEqual(fitted.limits.most);
      expect(sent(fitted)).toContain(quoted(FACT));
      expect(sent(fitted)).toContain("[#2 assistant,");
      expect(sent(fitted)).toContain(QUESTION);
      expect(fitted.page?.reason).toMatch(/^brought back: \d+ entr/);
      expect(fitted.page?.receipt.tokens.with).toBeGreaterThan(fitted.page?.receipt.tokens.without ?? 0);
      expect(fitted.parts.recalled).toBeGreaterThan(0);
    },
  );

  proofTest(
    "a page stays unchanged, byte by byte, for the rest of the turn and after a restart",
    async () => {
      const path = testFolder();
      const kernel = await openKernel({ path });
      const session = await kernel.session("talk");
      await longTalk(session);
      await session.append({ role: "user", text: QUESTION });
      const window = session.window(SMALL);
      const first = await window.fit();
      for (let number = 0; number < 3; number++) {
        await session.appendAll(step(number, 4));
        const next = await window.fit();
        expect(next.page).toBeUndefined();
        expect(next.messages.slice(0, first.messages.length)).toEqual(first.messages);
      }
      const last = await window.fit();
      await kernel.close();
      const later = await (await testKernel({ path })).session("talk");
      expect(sent(await later.window(SMALL).fit())).toBe(sent(last));
    },
  );

  proofTest("a page leaves with the next rebuild, once another question is asked", async () => {
    const session = await (await testKernel()).session("talk");
    await longTalk(session);
    await session.append({ role: "user", text: QUESTION });
    const window = session.window(SMALL);
    expect(sent(await window.fit())).toContain(quoted(FACT));
    await session.append({ role: "assistant", text: "On port 50432." });
    await talk(session, 30, 60);
    const later = await window.fit();
    expect(later.plan).toBeDefined();
    expect(sent(later)).not.toContain("blue vault");
  });

  proofTest("a page can be reverted like any edit, and does not return for the same message", async () => {
    const session = await (await testKernel()).session("talk");
    await longTalk(session);
    await session.append({ role: "user", text: QUESTION });
    const window = session.window(SMALL);
    const { page } = await window.fit();
    await session.overlays.revert(page?.overlay as number);
    for (const fitted of [await window.fit(), await session.window(SMALL).fit()]) {
      expect(fitted.page).toBeUndefined();
      expect(sent(fitted)).not.toContain("[#2 assistant,");
    }
  });

  proofTest(
    "a question gets its page after an undo too, where earlier messages had been searched for",
    async () => {
      const session = await (await testKernel()).session("talk");
      await longTalk(session);
      const messages = await session.read({ from: 1, limit: 1_000, kinds: ["message"] });
      await session.append({ role: "user", text: QUESTION });
      const window = session.window(SMALL);
      expect((await window.fit()).page).toBeDefined();
      await session.rewind(messages.at(-11)?.seq as number);
      await session.append({ role: "user", text: "Tell me a joke." });
      expect((await window.fit()).page).toBeUndefined();
      await session.append({ role: "assistant", text: "Knock, knock." });
      await session.append({ role: "user", text: QUESTION });
      const { page } = await window.fit();
      expect(page?.reason).toMatch(/^brought back: \d+ entr/);
      expect((await window.fit()).page).toBeUndefined();
    },
  );

  test("a window without paging brings nothing back", async () => {
    const session = await (await testKernel()).session("talk");
    await longTalk(session);
    await session.append({ role: "user", text: QUESTION });
    const fitted = await session.window({ ...SMALL, paging: false }).fit();
    expect(fitted.page).toBeUndefined();
    expect(sent(fitted)).not.toContain("[#2 assistant,");
  });

  proofTest("a page loses the words of an entry that is redacted", async () => {
    const session = await (await testKernel()).session("talk");
    await longTalk(session);
    await session.append({ role: "user", text: QUESTION });
    const window = session.window(SMALL);
    expect(sent(await window.fit())).toContain("blue vault");
    await session.redact(2);
    expect(sent(await window.fit())).not.toContain("blue vault");
  });
});

describe("a question without a page", () => {
  proofTest("a question about a fact that is still in the window adds no page", async () => {
    const session = await (await testKernel()).session("talk");
    await longTalk(session);
    await session.append({ role: "user", text: "Say that again." });
    await session.append({ role: "assistant", text: NOTE });
    const window = session.window(SMALL);
    await window.fit();
    await session.append({ role: "user", text: QUESTION });
    const fitted = await window.fit();
    expect(fitted.page).toBeUndefined();
    expect(sent(fitted)).toContain(quoted(FACT));
  });

  test("a question in a window that nothing has left adds no page", async () => {
    const session = await (await testKernel()).session("talk");
    await session.append({ role: "user", text: FACT });
    await session.append({ role: "assistant", text: "Noted." });
    await session.append({ role: "user", text: QUESTION });
    expect((await session.window(SMALL).fit()).page).toBeUndefined();
  });

  sizedTest.each(proofCases(["Go on.", "Thanks, that is great!", "ok", "Yes, please do."]))(
    "a question that names nothing adds no page: %s",
    async (words) => {
      const session = await (await testKernel()).session("talk");
      await longTalk(session);
      await session.append({ role: "user", text: words });
      expect((await session.window(SMALL).fit()).page).toBeUndefined();
    },
  );
});

sizedTest.each(proofCases(["cline", "roo", "openclaw"]))(
  "a fact that %s has cut comes back as a page",
  async (policy) => {
    const session = await (await testKernel()).session("talk");
    await longTalk(session);
    await session.append({ role: "user", text: QUESTION });
    const fitted = await session.window({ ...SMALL, policy }).fit();
    expect(fitted.page).toBeDefined();
    expect(fitted.tokens).toBeLessThanOrEqual(fitted.limits.most);
    expect(sent(fitted)).toContain(quoted(FACT));
  },
);

proofTest("a fact that a summary replaced comes back as a page", async () => {
  const session = await (await testKernel()).session("talk");
  await longTalk(session);
  await session.compact();
  await session.append({ role: "user", text: QUESTION });
  expect(
    sent(await session.window({ ...SMALL, models: { "claude-*": { window: 64_000 } } }).fit()),
  ).toContain(quoted(FACT));
});
