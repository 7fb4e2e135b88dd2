import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { TestAgent } from "../../../support/agent.ts";
import { eventually } from "../../../support/eventually.ts";
import { quiet, startGateway, type TestGateway, threadsOf } from "../../../support/gateway.ts";
import { proofTest } from "../../../support/proof.ts";
import { type Answering, says, startUpstream } from "../../../support/upstream.ts";
import { lineOfThread } from "../only-line.ts";

/** The first reply of every conversation is the same, each later one is unique. */
const greets: Answering = (heard, response, index) =>
  says(() => ({
    text: heard.json.messages.length === 1 ? "Hello to you." : `Reply number ${index + 1}.`,
  }))(heard, response, index);

/** Removes all places of a store, as an earlier version would have left it. */
function removePlaces({ path }: TestGateway): void {
  const db = new DatabaseSync(join(path, "log.db"));
  db.exec("DELETE FROM places");
  db.close();
}

async function readWords(gateway: TestGateway): Promise<readonly string[]> {
  const mains = await threadsOf(gateway, "main");
  const lines = await Promise.all(mains.map(({ id }) => lineOfThread(gateway, id)));
  return lines
    .map((line) =>
      line
        .filter((text) => text.startsWith("user|"))
        .slice(1)
        .join(" "),
    )
    .toSorted();
}

proofTest(
  "forty conversations with the same words and first reply go on separately, even after a restart",
  async () => {
    const upstream = await startUpstream(greets);
    const first = await startGateway({ upstream: upstream.url });
    const agents = Array.from({ length: 40 }, () => new TestAgent(first));
    for (const agent of agents) await agent.say("Hello");
    await first.close();
    const second = await startGateway({ upstream: upstream.url, path: first.path });
    for (const agent of agents) agent.gateway = second;
    for (const [at, agent] of agents.entries()) await agent.say(`I am number ${at}.`);
    for (const [at, agent] of agents.toReversed().entries()) await agent.say(`From the end, ${at}.`);
    await quiet(second);
    const expected = agents.map((_, at) => `user|I am number ${at}. user|From the end, ${39 - at}.`);
    expect(await readWords(second)).toEqual(expected.toSorted());
  },
);

test("conversations of a store without places are found while the places are being written, and afterwards", async () => {
  const upstream = await startUpstream(greets);
  const first = await startGateway({ upstream: upstream.url });
  const agents = Array.from({ length: 6 }, () => new TestAgent(first));
  for (const [at, agent] of agents.entries()) {
    await agent.say("Hello");
    await agent.say(`I am number ${at}.`);
  }
  const named = new TestAgent(first);
  named.headers["x-longhaul-session"] = "mine";
  await named.say("Named.");
  await first.close();
  removePlaces(first);
  const second = await startGateway({ upstream: upstream.url, path: first.path });
  const [early, ...late] = [...agents, named].map((agent) => {
    agent.gateway = second;
    return agent;
  });
  await early?.say("Early.");
  await eventually("the places are logged", () => second.logged.some(({ event }) => event === "places"));
  expect(await second.kernel.places.listUnplaced({ limit: 10 })).toEqual([]);
  for (const agent of late) await agent.say("Late.");
  // Without the beginning, the last reply identifies the conversation.
  const [trimmed] = late as [TestAgent];
  trimmed.elements = trimmed.elements.slice(2);
  await trimmed.say("Trimmed.");
  await quiet(second);
  const mains = await threadsOf(second, "main");
  expect(mains).toHaveLength(7);
  const own = await lineOfThread(second, mains.find(({ id }) => id.endsWith(":mine"))?.id);
  expect(own.filter((text) => text.startsWith("user|"))).toEqual(["user|Named.", "user|Late."]);
});

test("a deleted conversation leaves no place, and an equal conversation takes its id", async () => {
  const upstream = await startUpstream(says("Fine."));
  const gateway = await startGateway({ upstream: upstream.url });
  const agent = new TestAgent(gateway);
  await agent.say("Hello");
  await quiet(gateway);
  const [before] = await threadsOf(gateway, "main");
  const id = before?.id ?? "";
  expect((await gateway.kernel.places.ofSession(id)).length).toBeGreaterThan(1);
  await gateway.kernel.deleteSession(id);
  expect(await gateway.kernel.places.ofSession(id)).toEqual([]);
  await agent.say("Go on.");
  await quiet(gateway);
  const [after, ...others] = await threadsOf(gateway, "main");
  expect([after?.id, others]).toEqual([id, []]);
  expect(await lineOfThread(gateway, id)).toHaveLength(4);
});
