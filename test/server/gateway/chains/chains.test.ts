import { describe, expect, test } from "vitest";
import { logOf, quiet, startGateway, threadsOf } from "../../../support/gateway.ts";
import { ALICE_TOKEN, BOB_TOKEN, TWO_PEOPLE } from "../../../support/people.ts";
import { proofTest } from "../../../support/proof.ts";
import { onlyLine } from "../only-line.ts";
import { ChainedClient } from "./chained.ts";
import { startWorld } from "./world.ts";

const STREAMS = [
  ["streamed", true],
  ["whole", false],
] as const;

describe("a chain of responses", () => {
  test.each(STREAMS)(
    "a chain of responses goes through unchanged, %s, and is one session",
    async (_, stream) => {
      const { upstream, gateway } = await startWorld();
      const client = new ChainedClient(gateway);
      client.fields.stream = stream;
      await client.say("Remember the number 42.");
      await client.say("Which number was it?");
      await client.say([{ role: "user", content: "And now?" }]);
      expect(upstream.heard.map(({ json }) => json.input)).toEqual([
        "Remember the number 42.",
        "Which number was it?",
        [{ role: "user", content: "And now?" }],
      ]);
      expect(await onlyLine(gateway)).toEqual([
        "user|Remember the number 42.",
        "assistant|Reply 1.",
        "user|Which number was it?",
        "assistant|Reply 2.",
        "user|And now?",
        "assistant|Reply 3.",
      ]);
    },
  );

  test.each(STREAMS)("a chain of responses goes on in its session after a restart, %s", async (_, stream) => {
    const { gateway, restart } = await startWorld();
    const client = new ChainedClient(gateway);
    client.fields.stream = stream;
    await client.say("Remember the number 42.");
    await client.say("Which number was it?");
    const second = await restart();
    const later = new ChainedClient(second, client.previous);
    later.fields.stream = stream;
    await later.say("And now?");
    await later.say("And then?");
    expect(await onlyLine(second)).toEqual([
      "user|Remember the number 42.",
      "assistant|Reply 1.",
      "user|Which number was it?",
      "assistant|Reply 2.",
      "user|And now?",
      "assistant|Reply 3.",
      "user|And then?",
      "assistant|Reply 4.",
    ]);
  });

  test("a chain of responses goes on in its session after the session left memory, and through another gateway", async () => {
    const { upstream, gateway } = await startWorld({}, { limits: { maxThreads: 1 } });
    const other = await startGateway({ upstream: upstream.url, path: gateway.path });
    const client = new ChainedClient(gateway);
    await client.say("Remember the number 42.");
    await new ChainedClient(gateway).say("Something else.");
    await new ChainedClient(gateway).say("Something else again.");
    await client.say("Which number was it?");
    const elsewhere = new ChainedClient(other, client.previous);
    await elsewhere.say("And now?");
    const back = new ChainedClient(gateway, elsewhere.previous);
    await back.say("And then?");
    const threads = await threadsOf(gateway);
    expect(threads).toHaveLength(3);
    const session = await gateway.kernel.session(threads.at(-1)?.id);
    expect(
      (await logOf(session)).map(({ message: { parts } }) => (parts[0] as { text: string }).text),
    ).toEqual([
      "Remember the number 42.",
      "Reply 1.",
      "Which number was it?",
      "Reply 4.",
      "And now?",
      "Reply 5.",
      "And then?",
      "Reply 6.",
    ]);
  });

  test("a chain of responses belongs to the person who began it", async () => {
    const { upstream, gateway } = await startWorld({}, TWO_PEOPLE);
    const client = new ChainedClient(gateway);
    client.headers = { "x-longhaul-token": ALICE_TOKEN };
    await client.say("My secret word is heliotrope.");
    upstream.forget();
    const other = new ChainedClient(gateway, client.previous);
    other.headers = { "x-longhaul-token": BOB_TOKEN };
    const { status, text } = await other.send("Which number was it?");
    expect(status).toBe(400);
    expect(text).toContain("previous_response_not_found");
    expect(upstream.heard.at(-1)?.body.toString()).not.toContain("heliotrope");
  });
});

describe("a response that two requests continue", () => {
  test("a response that is continued twice gets two lines, and each later request stays on its own line", async () => {
    const { upstream, gateway, lastWords } = await startWorld();
    const client = new ChainedClient(gateway);
    await client.say("Begin.");
    const start = client.previous;
    await client.say("Go left.");
    const left = client.previous;
    const right = new ChainedClient(gateway, start);
    await right.say("Go right.");
    await new ChainedClient(gateway, left).say("Further left.");
    upstream.forget();
    await right.say("Further right.");
    expect(lastWords()).toEqual([
      "user|Begin.",
      "assistant|Reply 1.",
      "user|Go right.",
      "assistant|Reply 3.",
      "user|Further right.",
    ]);
    expect(await threadsOf(gateway)).toHaveLength(1);
  });

  proofTest("simultaneous continuations of a response become forks that share no later words", async () => {
    const { upstream, gateway, restart, lastWords } = await startWorld({ takesMs: 60 });
    const client = new ChainedClient(gateway);
    await client.say("Begin.");
    const ways = Array.from({ length: 12 }, () => new ChainedClient(gateway, client.previous));
    await Promise.all(ways.map((way, index) => way.say(`Way ${index}.`)));
    await Promise.all(ways.map((way, index) => way.say(`Further on way ${index}.`)));
    const second = await restart();
    upstream.forget();
    for (const [index, way] of ways.entries()) {
      await new ChainedClient(second, way.previous).say(`The end of way ${index}.`);
      const said = lastWords();
      expect(said.filter((words) => words.startsWith("user"))).toEqual([
        "user|Begin.",
        `user|Way ${index}.`,
        `user|Further on way ${index}.`,
        `user|The end of way ${index}.`,
      ]);
      expect(said).toHaveLength(7);
    }
  });

  test("a request repeated after a broken reply is stored once", async () => {
    const { upstream, gateway } = await startWorld();
    const client = new ChainedClient(gateway);
    await client.say("Begin.");
    upstream.answer((_, response) => response.destroy());
    await client.send("Go on.").catch(() => undefined);
    await quiet(gateway);
    upstream.answer((_, response) => response.writeHead(500).end("{}"));
    expect((await client.send("Go on.")).status).toBe(500);
    expect(await onlyLine(gateway)).toEqual(["user|Begin.", "assistant|Reply 1.", "user|Go on."]);
  });
});
