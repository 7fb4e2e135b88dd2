import { describe, expect } from "vitest";
import { ask, startGateway } from "../../support/gateway.ts";
import { proofCases, proofTest, sizedTest } from "../../support/proof.ts";
import { says, startUpstream } from "../../support/upstream.ts";
import { RECALLS, recalls } from "./recall/talk.ts";

const WINDOW = 30_000;
const usage = { input: 35_000, cacheRead: 0, cacheWrite: 0, output: 10 };

async function inputTokens(body: object, isStreamed: boolean, config: object, calls: number) {
  const upstream = await startUpstream(
    says((_, index) => (index < calls ? { ...recalls("port"), usage } : { text: "Found.", usage })),
  );
  const models = { "gpt-4.1": { window: WINDOW } };
  const gateway = await startGateway({ upstream: upstream.url, config: { ...config, models } });
  const question = { model: "gpt-4.1", stream: isStreamed, ...body };
  const answer = await ask(gateway, { path: "/v1/responses", body: question });
  expect(answer.status).toBe(200);
  expect(upstream.heard).toHaveLength(calls + 1);
  const told = [...answer.text.matchAll(/"input_tokens":\s*(\d+)/g)].map(([, count]) => Number(count));
  return Math.max(...told);
}

describe.each(proofCases([true, false]))(
  "a request of Responses that is a plain text, streamed: %s",
  (isStreamed) => {
    const body = { input: "Which port was it?" };

    sizedTest("a Responses request with plain text reports the provider's count if unchanged", async () => {
      expect(await inputTokens(body, isStreamed, {}, 0)).toBe(35_000);
    });

    sizedTest("a Responses request with recalls never reports more than the client's window", async () => {
      expect(await inputTokens(body, isStreamed, RECALLS, 2)).toBeLessThanOrEqual(WINDOW);
    });

    proofTest("a Responses request reports the same for a plain text and a list of that text", async () => {
      const list = { input: [{ role: "user", content: "Which port was it?" }] };
      expect(await inputTokens(list, isStreamed, RECALLS, 2)).toBe(
        await inputTokens(body, isStreamed, RECALLS, 2),
      );
    });
  },
);
