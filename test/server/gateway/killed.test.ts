import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { openKernel } from "../../../src/kernel/index.ts";
import { textOfMessage } from "../../../src/model/message.ts";
import { testFolder } from "../../support/folder.ts";
import { ask, lineOf, logOf, quiet, startGateway, threadsOf } from "../../support/gateway.ts";
import { proofTest } from "../../support/proof.ts";
import { serveGateway } from "../../support/served-gateway.ts";
import { startUpstream } from "../../support/upstream.ts";

const body = {
  model: "claude-sonnet-4-5",
  max_tokens: 100,
  messages: [{ role: "user", content: "Where is the heron?" }],
};

test("a first request that is repeated after its gateway was killed stays in its session", async () => {
  const path = testFolder();
  const silent = await startUpstream(() => {});
  const killed = await serveGateway(silent.url, [], path);
  ask(killed, { path: "/v1/messages", body }).catch(() => undefined);
  await silent.received(1);
  await killed.kill();

  const gateway = await startGateway({ upstream: (await startUpstream()).url, path });
  expect((await ask(gateway, { path: "/v1/messages", body })).status).toBe(200);
  const threads = await threadsOf(gateway);
  expect(threads).toHaveLength(1);
  const log = await logOf(await gateway.kernel.session(threads[0]?.id));
  expect(log.map(({ message }) => message.role)).toEqual(["user", "assistant"]);
});

proofTest(
  "kills of the gateway lose and double no reply, and the budget misses only the requests in flight",
  async () => {
    const path = testFolder();
    const by = "test";
    const before = await openKernel({ path });
    const { secret } = await before.team.add("alice", { by });
    await before.team.setBudget({ person: "alice", amount: 1e9, unit: "tokens", period: "total" }, { by });
    await before.close();
    const usage = { input_tokens: 100, output_tokens: 10 };
    let answers = 0;
    const upstream = await startUpstream((heard, response) => {
      const content = [{ type: "text", text: `Answer ${++answers}.` }];
      const reply = { id: `msg_${answers}`, type: "message", role: "assistant", model: heard.json.model };
      setTimeout(() => {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ ...reply, content, stop_reason: "end_turn", usage }));
      }, answers % 30);
    });
    const talks = Array.from({ length: 4 }, (_, talk) => ({
      messages: [{ role: "user", content: `Talk ${talk}: go on.` }] as { role: string; content: string }[],
      heard: [] as string[],
    }));
    let failed = 0;
    const go = async (gateway: { readonly url: string }, talk: (typeof talks)[number]) => {
      const request = { ...body, messages: talk.messages };
      const headers = { "x-longhaul-token": secret };
      const answer = await ask(gateway, { path: "/v1/messages", body: request, headers }).catch(
        () => undefined,
      );
      if (answer?.status !== 200) {
        failed++;
        return false;
      }
      const { text } = (JSON.parse(answer.text) as { content: [{ text: string }] }).content[0];
      talk.heard.push(text);
      talk.messages.push(
        { role: "assistant", content: text },
        { role: "user", content: `${text} And then?` },
      );
      return true;
    };
    // A first request has no reply in it: repeated after a reply that was stored and never heard, it begins a conversation.
    const first = await serveGateway(upstream.url, [], path);
    for (const talk of talks) expect(await go(first, talk)).toBe(true);
    await first.kill();
    for (let round = 0; round < 12; round++) {
      const gateway = await serveGateway(upstream.url, [], path);
      const work = talks.map(async (talk) => {
        while (await go(gateway, talk));
      });
      await sleep(150 + 70 * (round % 6));
      await gateway.kill();
      await Promise.all(work);
    }
    const gateway = await startGateway({ upstream: upstream.url, path });
    for (const talk of talks) expect(await go(gateway, talk)).toBe(true);
    await quiet(gateway);
    const threads = await threadsOf(gateway);
    expect(threads).toHaveLength(talks.length);
    const stored = await Promise.all(
      threads.map(async ({ id }) => {
        // A reply that was stored just before the kill, and that the client never heard, is in the log but not on the line.
        const line = await lineOf(await gateway.kernel.session(id));
        return line.flatMap(({ message }) => (message.role === "assistant" ? [textOfMessage(message)] : []));
      }),
    );
    const byFirst = (one: readonly string[], other: readonly string[]) =>
      `${one[0]}`.localeCompare(`${other[0]}`);
    expect(stored.sort(byFirst)).toEqual(talks.map(({ heard }) => heard).sort(byFirst));
    const acknowledged = talks.reduce((sum, { heard }) => sum + heard.length, 0);
    expect(acknowledged).toBeGreaterThan(talks.length);
    const [budget] = await gateway.kernel.team.budgets("alice");
    const each = usage.input_tokens + usage.output_tokens;
    const spent = budget?.spent ?? 0;
    expect(spent).toBeGreaterThanOrEqual((acknowledged - failed) * each);
    expect(spent).toBeLessThanOrEqual((acknowledged + failed) * each);
  },
);
