import fc from "fast-check";
import { expect } from "vitest";
import { POLICIES } from "../../../src/kernel/faces/window.ts";
import { MIN_FREED_SHARE } from "../../../src/window/session/edit-guard.ts";
import { TestAgent } from "../../support/agent.ts";
import { startGateway, threadsOf } from "../../support/gateway.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";
import { says, startUpstream } from "../../support/upstream.ts";

const WINDOWS = [16_000, 64_000, 200_000];
const POLICY_NAMES = POLICIES.map(({ name }) => name).filter((name) => name !== "none");

/** Text of about `tokens` tokens. */
const words = (tokens: number, mark: string) =>
  Array.from({ length: Math.ceil(tokens / 10) }, (_, at) => `${mark} says that item ${at} is in order.`).join(
    "\n",
  );

sizedTest(
  "each edit is needed or frees 5 % of the request, whatever the policy, first message and cache",
  async () => {
    const courses = fc.record({
      window: fc.constantFrom(...WINDOWS),
      policy: fc.constantFrom(...POLICY_NAMES),
      first: fc.double({ min: 0.05, max: 0.75, noNaN: true }),
      hasCache: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(courses, async ({ window, policy, first, hasCache }) => {
        let previous = "";
        let mostTokens = 0;
        const upstream = await startUpstream(
          says(({ json }, index) => {
            const { messages, max_tokens: output } = json;
            mostTokens = window - (output <= window / 4 ? output : window / 8);
            const body = JSON.stringify(messages);
            let shared = 0;
            while (shared < body.length && body[shared] === previous[shared]) shared++;
            previous = body;
            const [all, hit] = [Math.ceil(body.length / 4), Math.floor(shared / 4)];
            const usage = hasCache
              ? { input: 3, cacheRead: hit, cacheWrite: Math.max(0, all - hit), output: 5 }
              : { input: all, output: 5 };
            return { text: `Decision ${index}. ${words(window / 400, "it")}`, usage };
          }),
        );
        const upstreams = [{ name: "up", baseUrl: upstream.url, apis: ["anthropic"], window }];
        const gateway = await startGateway({ upstream: upstreams, config: { policy } });
        const agent = new TestAgent(gateway);
        await agent.say(words(window * first, "the code"));
        for (let number = 0; number < 14; number++)
          await agent.say(`Question ${number}: ${words(window / 400, "it")}`);
        const [record] = await threadsOf(gateway);
        const session = await gateway.kernel.session(record?.id ?? "");
        for (const { entry } of await session.overlays.list()) {
          const { tokensBefore = 0, tokensAfter = 0, receipt } = entry;
          const isProgress = tokensBefore - tokensAfter >= tokensBefore * MIN_FREED_SHARE - 2;
          expect(isProgress || (receipt?.isForced === true && tokensBefore > mostTokens)).toBe(true);
        }
        await gateway.close();
        await upstream.close();
      }),
      { numRuns: proofRounds(15, 3) },
    );
  },
);
