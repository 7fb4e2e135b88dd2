import { describe, expect, test } from "vitest";
import { TestAgent } from "../../support/agent.ts";
import { startGateway, threadsOf } from "../../support/gateway.ts";
import { type Answering, says, startUpstream } from "../../support/upstream.ts";
import { onlyLine } from "./only-line.ts";

const numbered = says((_, index) => ({ text: `Reply number ${index + 1}.` }));

async function world(answering: Answering = numbered) {
  const upstream = await startUpstream(answering);
  return { upstream, gateway: await startGateway({ upstream: upstream.url }) };
}

describe("the kind of a request", () => {
  const DOCUMENT = `Please review this page.\n\nA title names the session: a short one, and only the title. Determine whether it is JSON or true or false, exactly one of them. The <conversation> is summarized so that another agent can continue.`;

  test("a first message that quotes documentation is a turn of the conversation", async () => {
    const { gateway } = await world();
    const agent = new TestAgent(gateway);
    Object.assign(agent.fields, { tools: undefined, system: undefined, max_tokens: 100 });
    await agent.say(DOCUMENT);
    await agent.say("Go on.");
    expect((await threadsOf(gateway)).map(({ meta }) => meta?.gateway)).toMatchObject([{ kind: "main" }]);
    expect(await onlyLine(gateway, "main")).toHaveLength(4);
  });

  test("a request that takes away the conversation's tools to ask for a summary is a compaction", async () => {
    const { gateway } = await world();
    const agent = new TestAgent(gateway);
    await agent.say("Find the bug in the parser.");
    await agent.say("Now fix it, please.");
    const asking = new TestAgent(gateway);
    asking.fields.tools = undefined;
    asking.elements = [...agent.elements];
    const words = "Provide a summary of our conversation above, with what is needed to continue the work.";
    await asking.say(words);
    await agent.say("And write a test for it.");
    expect(await threadsOf(gateway, "compaction")).toHaveLength(1);
    expect(await onlyLine(gateway, "main")).not.toContain(`user|${words}`);
  });

  test("a turn becomes a compaction when the client replaces the conversation by its reply", async () => {
    const summary =
      "The user wants the parser fixed; the bug is in the third branch of the lexer, and a test is missing. Nothing else was asked for.";
    const { upstream, gateway } = await world(
      says((heard, index) => ({ text: heard.body.includes("Condense") ? summary : `Reply ${index}.` })),
    );
    const agent = new TestAgent(gateway);
    agent.headers["x-longhaul-session"] = "one";
    for (const turn of [1, 2, 3]) await agent.say(`Do part ${turn} of the work on the parser.`);
    await agent.say("Condense our conversation so that you can resume the work.");
    agent.elements = [{ role: "user", content: `The session so far, summarized: ${summary}` }];
    await agent.say("Go on with part 4.");
    expect(upstream.heard.at(-1)?.json.messages).toHaveLength(2);
    const [main] = await threadsOf(gateway);
    expect(await threadsOf(gateway)).toHaveLength(1);
    const session = await gateway.kernel.session(main?.id);
    const notes = await session.read({ from: 1, kinds: ["notice"], limit: 10 });
    expect(notes).toMatchObject([{ text: expect.stringContaining("compacted 8 messages by itself") }]);
  });
});
