import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { TestAgent } from "../../support/agent.ts";
import { logOf, quiet, startGateway, type TestGateway, threadsOf } from "../../support/gateway.ts";
import { proofTest } from "../../support/proof.ts";
import { type Answering, behave, eventsOf, says, startUpstream } from "../../support/upstream.ts";
import { lineOfThread, onlyLine } from "./only-line.ts";
import { textsIn } from "./said.ts";

const APIS = ["anthropic", "openai-chat", "openai-responses"] as const;

/** Replies with the number of the request, so that no two replies are the same. */
const numbered: Answering = (heard, response, index) =>
  says(() => ({ text: `Reply number ${index + 1}.` }))(heard, response, index);

async function world(answering: Answering = numbered, config = {}) {
  const upstream = await startUpstream(answering);
  return { upstream, gateway: await startGateway({ upstream: upstream.url, config }) };
}

const mainLine = (gateway: TestGateway) => onlyLine(gateway, "main");

/** All messages in the log of a thread. */
async function logOfThread(gateway: TestGateway, id: string | undefined): Promise<readonly string[]> {
  return (await logOf(await gateway.kernel.session(id))).map(({ message }) => textsIn(message));
}

describe.each(APIS)("a conversation over %s", (api) => {
  test("a conversation without an id is one session with each message once", async () => {
    const { gateway } = await world();
    const agent = new TestAgent(gateway, api);
    await agent.say("Find the bug in the parser.");
    await agent.say("Now fix it, please.");
    await agent.say("And write a test for it.");
    const line = await mainLine(gateway);
    expect(line).toEqual([
      "user|Find the bug in the parser.",
      "assistant|Reply number 1.",
      "user|Now fix it, please.",
      "assistant|Reply number 2.",
      "user|And write a test for it.",
      "assistant|Reply number 3.",
    ]);
    const [main] = await threadsOf(gateway, "main");
    expect(await logOfThread(gateway, main?.id)).toEqual(line);
  });

  test("a conversation with compressed replies is one session when they pass unchanged", async () => {
    const { gateway } = await world(
      (heard, response, index) => {
        const packed = gzipSync(eventsOf(heard, { text: `Reply number ${index + 1}.` }).join(""));
        response
          .writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" })
          .end(packed);
      },
      { policy: "none" },
    );
    const agent = new TestAgent(gateway, api);
    for (let turn = 1; turn <= 12; turn++) {
      agent.elements.push({ role: "user", content: `Step ${turn}, please.` });
      const reply = agent.read(gunzipSync((await agent.send()).body).toString());
      agent.elements.push(...reply.elements);
    }
    expect(await mainLine(gateway)).toHaveLength(24);
  });

  test("a conversation goes on after a restart of the gateway", async () => {
    const { upstream, gateway } = await world();
    const agent = new TestAgent(gateway, api);
    await agent.say("Find the bug in the parser.");
    await agent.say("Now fix it, please.");
    await gateway.close();
    const second = await startGateway({ upstream: upstream.url, path: gateway.path });
    const later = new TestAgent(second, api);
    later.elements = [...agent.elements];
    await later.say("And write a test for it.");
    expect(await mainLine(second)).toHaveLength(6);
  });

  test("two conversations that begin alike stay apart", async () => {
    const { gateway } = await world();
    const [one, two] = [new TestAgent(gateway, api), new TestAgent(gateway, api)];
    await one.say("Hello there, let us begin.");
    await two.say("Hello there, let us begin.");
    await one.say("I am the first of us.");
    await two.say("I am the second of us.");
    await one.say("Still the first.");
    await two.say("Still the second.");
    const mains = await threadsOf(gateway, "main");
    expect(mains).toHaveLength(2);
    const lines = await Promise.all(mains.map(({ id }) => lineOfThread(gateway, id)));
    expect(lines.map((line) => line.filter((text) => text.startsWith("user|")).slice(1)).sort()).toEqual([
      ["user|I am the first of us.", "user|Still the first."],
      ["user|I am the second of us.", "user|Still the second."],
    ]);
  });

  test("a conversation returns to an edited message and keeps both versions in the log", async () => {
    const { gateway } = await world();
    const agent = new TestAgent(gateway, api);
    await agent.say("Find the bug in the parser.");
    const before = [...agent.elements];
    await agent.say("Fix it in the slow way.");
    agent.elements = before;
    await agent.say("Fix it in the fast way.");
    const line = await mainLine(gateway);
    expect(line.filter((text) => text.startsWith("user|"))).toEqual([
      "user|Find the bug in the parser.",
      "user|Fix it in the fast way.",
    ]);
    const [main] = await threadsOf(gateway, "main");
    const log = await logOfThread(gateway, main?.id);
    expect(log).toContain("user|Fix it in the slow way.");
    expect(new Set(log).size).toBe(log.length);
  });

  test("a conversation stores a request once when it is repeated after an error", async () => {
    let isDown = true;
    const { gateway } = await world((heard, response, index) => {
      if (isDown) behave(heard, response, { type: "error", kind: "overloaded" });
      else numbered(heard, response, index);
    });
    const agent = new TestAgent(gateway, api);
    await expect(agent.say("Are you there at all?")).rejects.toThrow();
    await expect(agent.next()).rejects.toThrow();
    isDown = false;
    await agent.next();
    const [main] = await threadsOf(gateway, "main");
    expect(await logOfThread(gateway, main?.id)).toEqual(await mainLine(gateway));
    expect(await mainLine(gateway)).toHaveLength(2);
  });

  test("a conversation with tool calls is one session", async () => {
    const { gateway } = await world(
      says((_, index) =>
        index % 2 === 0
          ? { text: "I look.", toolCalls: [{ id: `call_${index}`, name: "read_file", input: { path: "a" } }] }
          : { text: `Seen, number ${index}.` },
      ),
    );
    const agent = new TestAgent(gateway, api);
    for (const turn of ["Look at a.", "Look at a again."]) {
      const { calls } = await agent.say(turn);
      await agent.hand(calls, `the file a, as of "${turn}"`);
    }
    const line = await mainLine(gateway);
    expect(line).toHaveLength(8);
    const [main] = await threadsOf(gateway, "main");
    expect(await logOfThread(gateway, main?.id)).toEqual(line);
  });
});

describe("the conversation of a request", () => {
  test("an explicit id names the conversation, whatever the first message is", async () => {
    const { gateway } = await world();
    const [one, two] = [new TestAgent(gateway), new TestAgent(gateway)];
    one.headers["x-longhaul-session"] = "first";
    two.headers["x-longhaul-session"] = "second";
    await one.say("The very same words.");
    await two.say("The very same words.");
    await one.say("More words.");
    await two.say("More words.");
    const ids = (await threadsOf(gateway, "main")).map(({ id }) => id);
    expect(ids.map((id) => id.split(":").at(-1)).sort()).toEqual(["first", "second"]);
    for (const id of ids) expect(await lineOfThread(gateway, id)).toHaveLength(4);
  });

  test("a conversation stays the same when cache markers move and a text becomes a block", async () => {
    const { gateway } = await world();
    const agent = new TestAgent(gateway);
    await agent.say("A long first message.");
    const mark = { cache_control: { type: "ephemeral" } };
    agent.elements[0] = { role: "user", content: [{ type: "text", text: "A long first message.", ...mark }] };
    await agent.say("The next one.");
    agent.elements[0] = { role: "user", content: "A long first message." };
    agent.elements[2] = { role: "user", content: [{ type: "text", text: "The next one.", ...mark }] };
    await agent.say("And the last one.");
    const [main] = await threadsOf(gateway, "main");
    expect(await logOfThread(gateway, main?.id)).toEqual(await mainLine(gateway));
    expect(await mainLine(gateway)).toHaveLength(6);
  });

  test("a conversation stays the same when the client rewrites call ids", async () => {
    const { gateway } = await world(
      says((_, index) => ({
        toolCalls: [{ id: `toolu_${index}`, name: "read_file", input: { path: `${index}` } }],
      })),
    );
    const agent = new TestAgent(gateway);
    await agent.say("Read all files.");
    for (let turn = 0; turn < 4; turn++) {
      const text = JSON.stringify(agent.elements).replaceAll(/toolu_\w+?_?(\d+)"/g, `toolu_again${turn}_$1"`);
      agent.elements = JSON.parse(text);
      const content = agent.elements.at(-1)?.content as readonly {
        readonly id: string;
        readonly name: string;
      }[];
      await agent.hand(content.slice(-1), `output ${turn}`);
    }
    expect(await mainLine(gateway)).toHaveLength(10);
  });

  test("a conversation stays the same when the end of each request vanishes with the next", async () => {
    const { gateway } = await world();
    const agent = new TestAgent(gateway);
    for (let turn = 1; turn <= 5; turn++) {
      agent.elements.push({ role: "user", content: `Do step ${turn} of the plan.` });
      const kept = [...agent.elements];
      agent.elements.push({ role: "user", content: `[system note] It is 12:0${turn} and all is well.` });
      const reply = agent.read((await agent.send()).text);
      agent.elements = [...kept, ...reply.elements];
    }
    const line = await mainLine(gateway);
    expect(line.filter((text) => text.startsWith("user|Do step"))).toHaveLength(5);
    expect(line.filter((text) => text.startsWith("assistant|"))).toHaveLength(5);
    const [main] = await threadsOf(gateway, "main");
    const log = await logOfThread(gateway, main?.id);
    expect(new Set(log).size).toBe(log.length);
    const fresh = log.filter((text) => text.includes("[system note]"));
    expect(fresh.length).toBeLessThanOrEqual(5);
  });

  test("a request for a title has a separate thread, and its reply becomes the title", async () => {
    const { gateway } = await world(
      says((heard) => ({
        text: JSON.stringify(heard.json).includes("title for this") ? "Parser bug" : "On it.",
      })),
    );
    const agent = new TestAgent(gateway);
    agent.headers["x-session-id"] = "ses_01f3a9c77";
    await agent.say("Find the bug in the parser.");
    const titling = new TestAgent(gateway);
    titling.headers["x-session-id"] = "ses_01f3a9c77";
    titling.fields.tools = undefined;
    titling.fields.system =
      "You are a title generator. You output only a title for a conversation, nothing else.";
    await titling.say("Generate a title for this conversation: Find the bug in the parser.");
    await agent.say("Go on.");
    expect(await mainLine(gateway)).toHaveLength(4);
    expect(await threadsOf(gateway, "title")).toHaveLength(1);
    expect((await threadsOf(gateway, "main"))[0]?.title).toBe("Parser bug");
  });

  test("a sub-agent under the same id is a child conversation", async () => {
    const { gateway } = await world();
    const session = "6b903dd1-0fdf-4f1a-9bc3-e2a3bdc656ec";
    const main = new TestAgent(gateway);
    main.headers["x-claude-code-session-id"] = session;
    const helper = new TestAgent(gateway);
    helper.headers["x-claude-code-session-id"] = session;
    helper.headers["x-claude-code-agent-id"] = "agent-7";
    helper.fields.system =
      "You are a helper that searches files for another agent and reports what it found.";
    await main.say("Fix the whole project.");
    await helper.say("Search for parsers.");
    await main.say("Meanwhile, go on.");
    await helper.say("Search once more.");
    const line = await mainLine(gateway);
    expect(line.filter((text) => text.startsWith("user|"))).toEqual([
      "user|Fix the whole project.",
      "user|Meanwhile, go on.",
    ]);
    const [child] = await threadsOf(gateway, "agent");
    expect(child?.parent).toBe((await threadsOf(gateway, "main"))[0]?.id);
    expect(await lineOfThread(gateway, child?.id)).toHaveLength(4);
  });

  test("a request that continues a response belongs to the conversation of that response", async () => {
    let count = 0;
    const { upstream, gateway } = await world((heard, response) => {
      const text = JSON.stringify({ text: `Reply ${++count}.` });
      const reply = { text: JSON.parse(text).text };
      behave(heard, response, { type: "reply", reply });
    });
    const agent = new TestAgent(gateway, "openai-responses");
    const first = await agent.say("Remember the number 42.");
    agent.elements = [];
    agent.fields.previous_response_id = first.responseId;
    await agent.say("Which number was it?");
    expect(upstream.heard[1]?.json.input).toHaveLength(1);
    expect(await mainLine(gateway)).toEqual([
      "user|Remember the number 42.",
      "assistant|Reply 1.",
      "user|Which number was it?",
      "assistant|Reply 2.",
    ]);
  });
});

describe("a client with its own summary", () => {
  test("a client that returns to the messages before its own summary has them sent unchanged", async () => {
    const summary =
      "The user wants the parser fixed; the bug is in the third branch of the lexer, and a test is missing.";
    const { upstream, gateway } = await world(
      says((heard, index) => ({ text: heard.body.includes("CRITICAL") ? summary : `Reply ${index}.` })),
    );
    const agent = new TestAgent(gateway);
    agent.headers["x-longhaul-session"] = "one";
    for (const turn of [1, 2, 3]) await agent.say(`Do part ${turn} of the work on the parser.`);
    const before = [...agent.elements];
    agent.headers["x-openai-subagent"] = "compact";
    await agent.say("CRITICAL: summarize the conversation so far, so that the work can go on.");
    delete agent.headers["x-openai-subagent"];
    agent.elements = [{ role: "user", content: `The session so far, summarized: ${summary}` }];
    await agent.say("Go on with part 4.");
    agent.elements = [...before];
    await agent.say("No, do part 3 once more.");
    expect(upstream.heard.at(-1)?.json.messages).toEqual(agent.elements.slice(0, -1));
    expect(await threadsOf(gateway, "main")).toHaveLength(1);
    expect(await threadsOf(gateway, "compaction")).toHaveLength(1);
  });
});

describe("clients with equal summaries", () => {
  test("clients without ids whose summaries are equal never join each other's conversations", async () => {
    const summary =
      "The user wants the parser fixed; the bug is in the third branch of the lexer, and a test is missing.";
    const { gateway } = await world(
      says((heard, index) => ({ text: heard.body.includes("Summarize") ? summary : `Reply ${index}.` })),
    );
    const names = ["crimson", "emerald"];
    const agents = names.map(() => new TestAgent(gateway));
    for (const [index, agent] of agents.entries()) {
      await agent.say(`Find the bug in the ${names[index]} parser of this project.`);
      const compacting = new TestAgent(gateway);
      compacting.fields.tools = undefined;
      compacting.fields.system =
        "You are a context summarization assistant. You read a conversation and write a structured summary of it.";
      await compacting.say(
        `<conversation>[User]: Find the bug in the ${names[index]} parser of this project. [Assistant]: Done.</conversation>\n\nSummarize the conversation above so that another model can continue the work. Create a structured context checkpoint summary with goal, progress, decisions and next steps.`,
      );
    }
    for (const [index, agent] of agents.entries()) {
      agent.elements = [
        { role: "user", content: `This session continues from a summary:\n<summary>${summary}</summary>` },
      ];
      await agent.say(`Go on with the ${names[index]} test.`);
    }
    for (const { id } of await threadsOf(gateway)) {
      const log = JSON.stringify(await logOf(await gateway.kernel.session(id)));
      expect(names.filter((name) => log.includes(name)).length, id).toBe(1);
    }
  });
});

describe("a conversation after a restart", () => {
  test("a conversation that went on from the client's summary goes on after a restart", async () => {
    const summary =
      "The user wants the parser fixed; the bug is in the third branch of the lexer, and a test is missing.";
    const { upstream, gateway } = await world(
      says((heard, index) => ({ text: heard.body.includes("Summarize") ? summary : `Reply ${index}.` })),
    );
    const agent = new TestAgent(gateway);
    await agent.say("Find the bug in the parser of this project.");
    await agent.say("Now fix it, please.");
    const compacting = new TestAgent(gateway);
    compacting.fields.tools = undefined;
    compacting.fields.system =
      "You are a context summarization assistant. You read a conversation and write a structured summary of it.";
    await compacting.say(
      `<conversation>[User]: Find the bug in the parser of this project. [Assistant]: Reply 0.</conversation>\n\nSummarize the conversation above so that another model can continue the work. Create a structured context checkpoint summary with goal, progress, decisions and next steps.`,
    );
    agent.elements = [
      { role: "user", content: `This session continues from a summary:\n<summary>${summary}</summary>` },
    ];
    await agent.say("Go on with the test.");
    expect(await threadsOf(gateway, "main")).toHaveLength(1);
    await gateway.close();
    const second = await startGateway({ upstream: upstream.url, path: gateway.path });
    const later = new TestAgent(second);
    later.elements = [...agent.elements];
    await later.say("And now the last thing.");
    expect(await threadsOf(second, "main")).toHaveLength(1);
  });
});

describe("simultaneous requests", () => {
  test("simultaneous requests of one conversation are all answered, and nothing is stored twice", async () => {
    const { gateway } = await world(async (heard, response, index) => {
      await sleep(20);
      numbered(heard, response, index);
    });
    const agent = new TestAgent(gateway);
    await agent.say("Begin, please.");
    const base = [...agent.elements];
    const forks = Array.from({ length: 5 }, (_, at) => {
      const fork = new TestAgent(gateway);
      fork.elements = [...base];
      return fork.say(`Way number ${at}.`);
    });
    expect(await Promise.all(forks)).toHaveLength(5);
    const all = await threadsOf(gateway);
    const logs = await Promise.all(all.map(({ id }) => logOfThread(gateway, id)));
    const said = logs.flat().filter((text) => text.startsWith("user|Way number"));
    expect(said.sort()).toEqual([0, 1, 2, 3, 4].map((at) => `user|Way number ${at}.`));
    expect(await threadsOf(gateway, "main")).toHaveLength(1);
  });

  test("simultaneous equal requests get one reply each", async () => {
    const { gateway } = await world(async (heard, response, index) => {
      await sleep(20);
      numbered(heard, response, index);
    });
    const agent = new TestAgent(gateway);
    agent.elements = [{ role: "user", content: "Ask me twice." }];
    const answers = await Promise.all([agent.send(), agent.send()]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const all = await threadsOf(gateway);
    const logs = (await Promise.all(all.map(({ id }) => logOfThread(gateway, id)))).flat();
    expect(logs.filter((text) => text.startsWith("assistant|"))).toHaveLength(2);
  });

  proofTest("simultaneous requests of fifty conversations never mix", async () => {
    const { upstream, gateway } = await world(async (heard, response, index) => {
      const last = heard.json.messages.at(-1).content;
      await sleep((index * 7) % 40);
      says(() => ({ text: `You said: ${last}` }))(heard, response, index);
    });
    const agents = Array.from({ length: 50 }, () => new TestAgent(gateway));
    await Promise.all(
      agents.map(async (agent, at) => {
        for (const turn of [1, 2, 3]) await agent.say(`person-${at}-end says ${turn}`);
      }),
    );
    for (const { body } of upstream.heard)
      expect(new Set(body.toString().match(/person-\d+-end/g)).size).toBe(1);
    const mains = await threadsOf(gateway, "main");
    expect(mains).toHaveLength(50);
    for (const { id } of mains) {
      const line = await lineOfThread(gateway, id);
      expect(line).toHaveLength(6);
      expect(new Set(line.join().match(/person-\d+-end/g)).size).toBe(1);
    }
  });

  test("conversations go on while others come and go, with only a few held in memory", async () => {
    const { gateway } = await world(numbered, { limits: { maxThreads: 3 } });
    const agents = Array.from({ length: 8 }, () => new TestAgent(gateway));
    for (const turn of [1, 2, 3])
      for (const [at, agent] of agents.entries()) await agent.say(`person ${at} says ${turn}`);
    await quiet(gateway);
    const mains = await threadsOf(gateway, "main");
    expect(mains).toHaveLength(8);
    for (const { id } of mains) expect(await lineOfThread(gateway, id)).toHaveLength(6);
  });
});
