import { expect, test } from "vitest";
import { TestAgent } from "../../../support/agent.ts";
import { quiet, startGateway, threadsOf } from "../../../support/gateway.ts";
import { says, startUpstream } from "../../../support/upstream.ts";

const WORD = "heronfold";
const SECRET = `The vault opens with ${WORD} turns.`;

test.each([
  ["alone", SECRET],
  ["in an element", `<session>\n${SECRET}\n</session>`],
])(
  "an erased message leaves no copy in the request for a title, where it stands %s, nor in the title",
  async (_, copy) => {
    const upstream = await startUpstream(
      says((heard) => ({ text: heard.body.includes("short title") ? `Opening of a ${WORD}` : "Fine." })),
    );
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway);
    const naming = new TestAgent(gateway);
    for (const one of [agent, naming]) one.headers["x-claude-code-session-id"] = "origin-0001";
    const system = "Generate a short title of 3 to 7 words for this coding session. Return only the title.";
    Object.assign(naming.fields, { tools: undefined, max_tokens: 500, system });
    agent.elements.push({
      role: "user",
      content: ["<system-reminder>\nToday is Monday.\n</system-reminder>", SECRET].map((text) => ({
        type: "text",
        text,
      })),
    });
    await agent.next();
    await naming.say(copy);
    await agent.say("What is next?");
    const helper = new TestAgent(gateway);
    Object.assign(helper.headers, agent.headers);
    helper.fields.system = "You are a helper that looks for files.";
    await helper.say("<system-reminder>\nToday is Monday.\n</system-reminder> Look for the door.");
    await agent.say("Go on, please.");
    await helper.say("Find the window; the person said: Go on, please.");
    await quiet(gateway);
    const [main] = await threadsOf(gateway, "main");
    expect(main?.title).toContain(WORD);
    await using session = await gateway.kernel.session(main?.id ?? "");
    for await (const { seq, ...entry } of session.entries({ kinds: ["message"] }))
      if (/heronfold|Go on, please/.test(JSON.stringify(entry))) await session.redact(seq);
    const stored: string[] = [];
    for (const record of await threadsOf(gateway)) {
      await using one = await gateway.kernel.session(record.id);
      stored.push(JSON.stringify([record, await one.read({ from: 1, limit: 100 })]));
    }
    expect(stored.length).toBeGreaterThan(1);
    expect(stored.join("\n")).not.toContain(WORD);
    expect(stored.join("\n")).toContain("Look for the door.");
    expect(stored.join("\n")).toContain("Find the window;");
    const { hits } = await gateway.kernel.memory.recall(`vault ${WORD} turns`, { waitMs: 2_000 });
    expect(JSON.stringify(hits)).not.toContain(WORD);
  },
);
