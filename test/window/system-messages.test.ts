import { describe, expect, test } from "vitest";
import { POLICIES, type Policy } from "../../src/kernel/faces/window.ts";
import type { Message } from "../../src/kernel/index.ts";
import { clipSlots } from "../../src/window/clip-slots.ts";
import type { Slot } from "../../src/window/slot.ts";
import { testKernel } from "../support/kernel.ts";
import { proofTest } from "../support/proof.ts";
import { Random } from "../support/random.ts";
import { randomHistory } from "./properties/random-history.ts";
import { tokensOf } from "./properties/rules.ts";

const said = (role: Message["role"], text: string): Message => ({ role, parts: [{ type: "text", text }] });
const MARK = "ENVIRONMENT_";
const environment = (turn: number) => said("system", `${MARK}${turn}: the user works in project_${turn}.`);

/** The messages with system messages inserted where they separate no call from its result. */
function withSystem(messages: readonly Message[]): readonly Message[] {
  return messages.flatMap((message, index) =>
    message.role === "user" ? [message, environment(index)] : [message],
  );
}

const isSystem = ({ role }: Message) => role === "system";

describe.each(POLICIES.map((policy) => [policy.name, policy] as const))("under %s", (_, policy: Policy) => {
  proofTest("system messages stay verbatim under every policy, in random histories", () => {
    for (let seed = 1; seed <= 300; seed++) {
      const random = new Random(seed);
      const messages = withSystem(randomHistory(random).filter((message) => !isSystem(message)));
      const slots = messages.map(
        (message, index): Slot => ({ seq: index + 1, at: index, message, tokens: tokensOf(message) }),
      );
      const system = slots.filter(({ message }) => isSystem(message));
      const tokens = 400 + random.below(3_000);
      const run = policy.start({ tokens, window: tokens, system: 0 }, tokensOf);
      for (const slot of slots) {
        run.observe(slot);
        if (random.chance(0.4)) run.fit({ isHot: random.chance(0.5) });
      }
      const shown = run.fit({ isHot: true });
      expect(shown.filter(({ message, isNote }) => isSystem(message) && !isNote)).toEqual(system);
      const others = shown.filter(({ message }) => !isSystem(message));
      expect(JSON.stringify(others)).not.toContain(MARK);
    }
  });
});

describe("system messages", () => {
  test("system messages are not clipped as a last resort", () => {
    const slots = [said("system", "s".repeat(4_000)), said("user", "u".repeat(4_000))].map(
      (message, index): Slot => ({ seq: index + 1, at: index, message, tokens: tokensOf(message) }),
    );
    const [system, user] = clipSlots(slots, 100, tokensOf);
    expect(system).toBe(slots[0]);
    expect(user).not.toBe(slots[1]);
  });

  proofTest(
    "system messages stay next to a summary, which does not quote them as the user's words",
    async () => {
      const kernel = await testKernel();
      const session = await kernel.session();
      for (let turn = 0; turn < 30; turn++) {
        await session.append({ role: "user", text: `Please look at part ${turn}. I always want tests.` });
        await session.append(environment(turn));
        await session.append({ role: "assistant", text: `Part ${turn} is fine. ${"It holds. ".repeat(60)}` });
      }
      await session.append({ role: "user", text: "And now?" });
      await session.compact();
      const { messages } = await session.window({ model: "claude-sonnet-4-5" }).fit();
      expect(messages.length).toBeLessThan(91);
      expect(messages.filter(isSystem)).toHaveLength(30);
      expect(JSON.stringify(messages.filter((message) => !isSystem(message)))).not.toContain(MARK);
    },
  );

  test("a recall finds system messages, and does not attribute them to the user", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    await session.append({ role: "user", text: "Where do I work?" });
    await session.append(environment(7));
    await session.append({ role: "assistant", text: "In a project." });
    const { hits } = await kernel.memory.recall("project_7");
    const found = hits.filter(({ text }) => text.includes(MARK));
    expect(found.length).toBeGreaterThan(0);
    expect(found.map((hit) => (hit.kind === "session" ? hit.author : hit.kind))).not.toContain("user");
  });
});
