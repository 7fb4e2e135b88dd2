import { expect } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { startGateway } from "../../support/gateway.ts";
import { proofTest } from "../../support/proof.ts";
import { ApiClient } from "./support/api-client.ts";

async function openTicket(): Promise<ApiClient> {
  const gateway = await startGateway({ upstream: "http://127.0.0.1:9" });
  await using session = await gateway.kernel.session("ticket");
  for (let turn = 1; turn <= 5; turn++) {
    await session.append({ role: "user", text: `question ${turn} about harbor-${turn}` });
    await session.append({ role: "assistant", model: "claude-sonnet-4-5", text: `the port is 77${turn}` });
  }
  await using long = await gateway.kernel.session("long");
  for (const length of [10_000, 10_000, 1])
    await long.appendAll(Array.from({ length }, (_, at) => ({ role: "user" as const, text: `${at}` })));
  return ApiClient.open(gateway);
}

proofTest("a replay reports the cost and retention of each policy, and excludes other replays", async () => {
  const api = await openTicket();
  const tooLong = await api.post("/replays", { session: "long" });
  expect(tooLong).toMatchObject({ status: 413, body: { error: { code: "REPLAY_TOO_LONG" } } });
  const wrong = await api.post("/replays", { session: "ticket", policies: ["clime"] });
  expect(wrong.body.error.message).toContain("expected one of longhaul");
  const jobs = await Promise.all(
    [1, 2, 3].map(() => api.post("/replays", { session: "ticket", window: 32_000 })),
  );
  const started = jobs.filter(({ status }) => status === 202);
  expect(started).toHaveLength(1);
  for (const { status, body } of jobs) if (status !== 202) expect(body.error.code).toBe("JOB_BUSY");
  const path = `/jobs/${started[0]?.body.id}`;
  await eventually("the replay has ended", async () => (await api.get(path)).body.state !== "running");
  const { replay } = (await api.get(path)).body;
  expect(replay).toMatchObject({ session: "ticket", window: 32_000, messages: 10 });
  expect(replay.policies.map(({ policy }: { policy: string }) => policy)).toContain("longhaul");
  for (const { costShare, identifiers } of replay.policies) {
    expect(costShare).toBeCloseTo(1);
    expect(identifiers).toBe(1);
  }
  expect((await api.post("/replays", { session: "ticket", policies: ["cline"] })).status).toBe(202);
});
