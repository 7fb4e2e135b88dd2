import { describe, expect, test } from "vitest";
import { logOf, threadsOf } from "../../../support/gateway.ts";
import { proofCases, proofTest, sizedTest } from "../../../support/proof.ts";
import { output } from "../limited.ts";
import { ChainedClient, wordsIn } from "./chained.ts";
import { LONG_WORK, outputOf, startWorld, working } from "./world.ts";

/** Characters that fit the provider's window. */
const MOST = 120_000;

describe("a chain that is too long for its provider", () => {
  sizedTest.each(
    proofCases([
      ["streamed", true, false],
      ["whole", false, false],
      ["refused inside a stream", true, true],
    ] as const),
  )(
    "a chain that is too long for its provider goes on from the log unseen by the client, %s",
    async (_, stream, isLate) => {
      const { upstream, gateway } = await startWorld(
        { most: MOST, reply: working, isLate },
        { models: { "gpt-4.1": { window: 30_000 } } },
      );
      const client = new ChainedClient(gateway);
      client.fields.stream = stream;
      client.fields.instructions = "You are a coding agent.";
      await client.say(LONG_WORK);
      for (let turn = 0; turn < 90; turn++) await client.say(outputOf(turn));
      const { refusals, contexts } = upstream;
      expect(contexts).toHaveLength(91);
      expect(refusals.length).toBeGreaterThan(1);
      expect(refusals.length).toBeLessThan(12);
      expect(new Set(refusals)).toEqual(new Set(["context_length_exceeded"]));
      // Healed requests continue as a chain.
      expect(upstream.heard.filter(({ json }) => json.previous_response_id === undefined)).toHaveLength(
        1 + refusals.length,
      );
      for (const context of contexts) expect(wordsIn(context).slice(0, 2)).toEqual(wordsIn(LONG_WORK));
      const [thread] = await threadsOf(gateway);
      const log = await logOf(await gateway.kernel.session(thread?.id));
      expect(log).toHaveLength(182);
      expect(gateway.logged.filter(({ healed }) => healed)).toHaveLength(refusals.length);
    },
  );

  proofTest("a chain that is too long for its provider goes on from the log after a restart", async () => {
    const config = { models: { "gpt-4.1": { window: 30_000 } } };
    const { upstream, gateway, restart, lastWords } = await startWorld(
      { most: MOST, reply: working },
      config,
    );
    const client = new ChainedClient(gateway);
    await client.say(LONG_WORK);
    for (let turn = 0; turn < 20; turn++) await client.say(outputOf(turn));
    const second = await restart();
    const later = new ChainedClient(second, client.previous);
    for (let turn = 20; turn < 40; turn++) await later.say(outputOf(turn));
    expect(upstream.refusals.length).toBeGreaterThan(0);
    expect(lastWords().slice(0, 2)).toEqual(wordsIn(LONG_WORK));
    expect(await threadsOf(second)).toHaveLength(1);
  });

  test("a request that stays too long is tried three more times at most, and then the client gets the provider's error", async () => {
    const { upstream, gateway } = await startWorld({ most: 400 });
    const client = new ChainedClient(gateway);
    await client.say("Begin.");
    const { status, text } = await client.send(output(1, 30_000));
    expect([status, text]).toEqual([400, expect.stringContaining("context_length_exceeded")]);
    expect(upstream.heard.length).toBeLessThanOrEqual(5);
    expect(await client.say("Something short.")).toBe("Reply 2.");
  });

  test("a chain that is too long stays as it is with policy none and in a dry run", async () => {
    for (const config of [{ policy: "none" }, { dryRun: true }]) {
      const { upstream, gateway } = await startWorld({ most: 10_000 }, config);
      const client = new ChainedClient(gateway);
      await client.say(output(1, 6_000));
      const { status, text } = await client.send(output(2, 6_000));
      expect([status, text]).toEqual([400, expect.stringContaining("context_length_exceeded")]);
      upstream.forget();
      expect((await client.send("Anything?")).text).toContain("previous_response_not_found");
      expect(upstream.heard).toHaveLength(3);
    }
  });

  test("a long chain that began before the gateway saw it gets the provider's own error", async () => {
    const { upstream, gateway } = await startWorld({ most: 10_000 });
    const direct = new ChainedClient(upstream);
    await direct.say(output(1, 6_000));
    const client = new ChainedClient(gateway, direct.previous);
    await client.say("What did it say?");
    const { status, text } = await client.send(output(2, 6_000));
    expect([status, text]).toEqual([400, expect.stringContaining("context_length_exceeded")]);
  });
});

describe("a conversation that the provider keeps", () => {
  proofTest("a conversation kept by the provider goes on from the log when it is too long", async () => {
    const config = { models: { "gpt-4.1": { window: 30_000 } } };
    const { upstream, gateway, restart, lastWords } = await startWorld(
      { most: MOST, reply: working },
      config,
    );
    const client = new ChainedClient(gateway);
    client.fields.conversation = "conv_0123456789";
    await client.next("Read all files of the project.");
    for (let turn = 0; turn < 40; turn++) await client.next(outputOf(turn));
    expect(upstream.refusals).toEqual(["context_length_exceeded"]);
    expect(await threadsOf(gateway)).toHaveLength(1);
    const second = await restart();
    const later = new ChainedClient(second);
    later.fields.conversation = "conv_0123456789";
    await later.next(outputOf(40));
    expect(upstream.heard.at(-1)?.json).not.toHaveProperty("conversation");
    expect(lastWords()[0]).toBe("user|Read all files of the project.");
  });

  test("a conversation kept by the provider whose beginning the log lacks gets the provider's own error", async () => {
    const { upstream, gateway } = await startWorld({ most: 100_000 });
    const direct = new ChainedClient(upstream);
    direct.fields.conversation = "conv_0123456789";
    await direct.next(output(1, 60_000));
    const client = new ChainedClient(gateway);
    client.fields.conversation = "conv_0123456789";
    await client.next("What did it say?");
    const { status, text } = await client.send(output(2, 50_000));
    expect([status, text]).toEqual([400, expect.stringContaining("context_length_exceeded")]);
  });
});
