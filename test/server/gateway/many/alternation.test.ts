import { describe, expect } from "vitest";
import { startGateway } from "../../../support/gateway.ts";
import {
  createSchemaUrl,
  describeProblem,
  findTestPostgres,
} from "../../../support/postgres/test-postgres.ts";
import { proofCases, proofRounds, sizedTest } from "../../../support/proof.ts";
import {
  countEdits,
  expectWholeLogs,
  findBreaks,
  plansFrom,
  runPlans,
  sentBodies,
  startSteadyUpstream,
  WINDOW,
} from "./alternation.ts";

const server = await findTestPostgres();
const apis = ["anthropic", "openai-chat", "openai-responses"];

describe.skipIf("problem" in server)(`two gateways on one database (${describeProblem(server)})`, () => {
  sizedTest.each(proofCases(["longhaul", "cline", "roo", "none"]))(
    "two gateways under %s continue each other's requests and log every exchange once",
    async (policy) => {
      for (let seed = 1; seed <= proofRounds(4, 1); seed++) {
        const plans = plansFrom(seed, proofRounds(6, 3), proofRounds(20, 7));
        const settings = (url: string) => ({
          upstream: [{ name: "small", baseUrl: url, apis, window: WINDOW }],
          config: { policy },
        });
        const alone = await startSteadyUpstream();
        const one = await startGateway(settings(alone.url));
        await expectWholeLogs([one], plans, await runPlans(plans, [one], seed));
        await one.close();

        const shared = await startSteadyUpstream();
        const store = createSchemaUrl(server);
        const first = await startGateway({ ...settings(shared.url), store });
        const second = await startGateway({ ...settings(shared.url), store });
        await expectWholeLogs([first, second], plans, await runPlans(plans, [first, second], seed));
        const [sent, expected] = [sentBodies(shared), sentBodies(alone)];
        for (const { name, api } of plans) {
          const [own = [], other = []] = [sent.get(name), expected.get(name)];
          expect(own.length, name).toBe(other.length);
          // New edits of the policy longhaul depend on all that its run has seen; others decide only by the window.
          if (policy !== "longhaul")
            expect(
              other.findIndex((body, at) => body !== own[at]),
              `${name}, seed ${seed}`,
            ).toBe(-1);
          if (policy === "none") continue;
          // No request of either exceeds the window, as the provider counts it.
          const largest = Math.max(...own.map((body) => Math.ceil(Buffer.byteLength(body) / 4)));
          expect(largest, name).toBeLessThanOrEqual(WINDOW);
          // Whatever was decided holds at both: a request changes an earlier one only by an edit in the log.
          expect(findBreaks(api, own).length, name).toBeLessThanOrEqual(await countEdits(first, name));
        }
        await first.close();
        await second.close();
      }
    },
    600_000,
  );
});
