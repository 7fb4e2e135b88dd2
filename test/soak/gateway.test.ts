import { expect, test } from "vitest";
import { startLimitedUpstream } from "../server/gateway/limited.ts";
import { expectWholeLog, working, workOn } from "../server/gateway/long-session.ts";
import { startGateway } from "../support/gateway.ts";

const turns = Math.ceil(2_000 * Number(process.env.LONGHAUL_SOAK ?? 1));
const WINDOW = 64_000;
const PRICES = { write: 3.75, read: 0.3 };

test(`a session of ${turns} turns never causes an overflow, and its window does not grow`, async () => {
  const api = "anthropic";
  const count = (body: Buffer) => Math.ceil(body.length / 4);
  const upstream = await startLimitedUpstream({ api, window: WINDOW, count, reply: working });
  const upstreams = [{ name: "small", baseUrl: upstream.url, apis: [api], window: WINDOW }];
  const gateway = await startGateway({ upstream: upstreams });
  const agent = await workOn(gateway, { api, turns, characters: 1_000, clientWindow: 200_000 });
  await expectWholeLog(gateway, agent, api);
  expect(Math.max(...upstream.counts)).toBeLessThanOrEqual(WINDOW);
  const step = Math.ceil(turns / 20);
  for (let from = 0; from < turns; from += step) {
    const sum = (list: readonly number[]) => list.slice(from, from + step).reduce((all, one) => all + one, 0);
    const [tokens, cached] = [sum(upstream.counts), sum(upstream.cached)];
    const dollars = (cached * PRICES.read + (tokens - cached) * PRICES.write) / 1e6;
    const mean = Math.round(tokens / step);
    console.log(
      `turns ${from + 1} on: ${mean} tokens a request, ${Math.round((100 * cached) / tokens)}% cached, $${dollars.toFixed(2)}`,
    );
  }
  console.log(`${upstream.refused()} requests were refused and healed`);
});
