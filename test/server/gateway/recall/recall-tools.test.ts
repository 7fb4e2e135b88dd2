import { describe, expect, test } from "vitest";
import { EXPAND_TOOL, RECALL_TOOL, SAVE_TOOL } from "../../../../src/server/gateway/recall/recall-tools.ts";
import { lineOf, quiet, startGateway, threadsOf } from "../../../support/gateway.ts";
import { proofCases, proofTest, sizedTest } from "../../../support/proof.ts";
import { behave, says, startUpstream } from "../../../support/upstream.ts";
import type { Behaviour, Reply } from "../../../support/wire-server/behaviour.ts";
import { textsIn } from "../said.ts";
import {
  askRaw,
  elementsOf,
  RECALLS,
  readTool,
  recalls,
  requestOf,
  talk,
  toolSays,
  userSays,
  WAYS,
} from "./talk.ts";

const FACT = "The staging server listens on port 7781.";

/** Answers successive requests by a script. */
function scripted(...script: readonly (Reply | Behaviour)[]) {
  let next = 0;
  return startUpstream((heard, response) => {
    const one = script[Math.min(next++, script.length - 1)] as Reply | Behaviour;
    behave(heard, response, "type" in one ? one : { type: "reply", reply: one });
  });
}

const named = (tools: readonly { name?: string; function?: { name: string } }[]) =>
  tools.map((tool) => tool.name ?? tool.function?.name);

test("a client that trims its history can recall the messages that it no longer sends", async () => {
  const upstream = await scripted({ text: "Noted." }, { text: "Fine." }, recalls("staging server port"), {
    text: "It is 7781.",
  });
  const gateway = await startGateway({ upstream: upstream.url, hasEmbedder: true, config: RECALLS });
  const talker = { gateway, api: "anthropic", isStreamed: false } as const;
  const headers = { "x-api-key": "key-of-alice", "x-longhaul-session": "trimmed" };
  const noted = { role: "assistant", content: "Noted." };
  const begun = [userSays(FACT), noted, userSays("Read the log.")];
  await askRaw(talker, begun.slice(0, 1), {}, { headers });
  await askRaw(talker, begun, {}, { headers });
  const trimmed = [
    userSays("Read the log."),
    { role: "assistant", content: "Fine." },
    userSays("Which port?"),
  ];
  await askRaw(talker, trimmed, {}, { headers });
  expect(await threadsOf(gateway, "main")).toHaveLength(1);
  const [last] = upstream.heard.slice(-1);
  const result = JSON.stringify(last && elementsOf(last).slice(trimmed.length));
  expect(result).toContain("port 7781");
  expect(result).not.toContain("Which port?");
});

test.each(WAYS)(
  "a budget of tokens counts every round of a recall: %s, streamed: %s",
  async (api, isStreamed) => {
    const upstream = await scripted({ text: "Noted." }, recalls("staging server port"), {
      text: "It is 7781.",
      usage: { input: 150, output: 5 },
    });
    const gateway = await startGateway({ upstream: upstream.url, config: RECALLS });
    const { team } = gateway.kernel;
    const by = "test";
    const { secret } = await team.add("alice", { by });
    const talker = { gateway, api, isStreamed };
    const question = { headers: { "x-longhaul-token": secret, "x-api-key": "key-of-alice" } };
    await askRaw(talker, [userSays(FACT)], {}, question);
    await team.setBudget({ person: "alice", amount: 1_000_000, unit: "tokens", period: "total" }, { by });
    await askRaw(talker, [userSays("Tell me the port of the staging server.")], {}, question);
    await quiet(gateway);
    expect(upstream.heard).toHaveLength(3);
    expect(await team.budgets("alice")).toMatchObject([{ spent: 100 + 7 + 150 + 5, reserved: 0 }]);
  },
);

describe.each(proofCases(WAYS))("recall as a tool, %s, streamed: %s", (api, isStreamed) => {
  sizedTest(
    "a recall runs unseen: the client sees one reply, and the next request stays in the conversation",
    async () => {
      const upstream = await scripted(
        { text: "Noted." },
        recalls("staging server port", "Let me look."),
        { text: "It is 7781.", usage: { input: 150, output: 5 } },
        { text: "Any time." },
      );
      const gateway = await startGateway({ upstream: upstream.url, config: RECALLS });
      const talker = { gateway, api, isStreamed };
      await talk(talker, [userSays(FACT)]);
      const question = [userSays("Tell me the port of the staging server.")];
      const seen = await talk(talker, question);
      expect(seen.texts.join("\n\n")).toBe("Let me look.\n\nIt is 7781.");
      expect(seen.calls).toEqual([]);
      expect(["end_turn", "stop", "completed"]).toContain(seen.stop);
      expect(seen.usage?.output_tokens ?? seen.usage?.completion_tokens).toBe(12);
      expect(seen.usage?.input_tokens ?? seen.usage?.prompt_tokens).toBe(150);

      const [, first, second] = upstream.heard;
      expect(named(first?.json.tools)).toEqual(["read", RECALL_TOOL, EXPAND_TOOL, SAVE_TOOL]);
      expect(second && elementsOf(second).slice(0, question.length)).toEqual(question);
      const inner = JSON.stringify(second && elementsOf(second).slice(question.length));
      expect(inner).toContain("Let me look.");
      expect(inner).toContain("7781");
      expect(inner).toContain("memory-data");
      // The window shows the question itself.
      expect(inner).not.toContain("Tell me the port");

      const thanks = [...question, ...seen.elements, userSays("Thanks.")];
      await talk(talker, thanks);
      const mains = await threadsOf(gateway, "main");
      expect(mains).toHaveLength(2);
      const session = await gateway.kernel.session(mains[0]?.id);
      const line = (await lineOf(session)).map(({ message }) => textsIn(message));
      expect(line).toHaveLength(4);
      expect(line.join()).not.toContain("longhaul_");
      expect(line[1]).toContain("It is 7781.");
      const [used] = await session.read({ from: 1, limit: 100, kinds: ["usage"] });
      expect(used).toMatchObject({ usage: { inputTokens: 100, outputTokens: 12, cost: expect.any(Number) } });
      const notes = await session.read({ from: 1, limit: 100, kinds: ["notice"] });
      expect(JSON.stringify(notes)).toContain("staging server port");
      expect(upstream.heard).toHaveLength(4);
    },
  );

  proofTest("a recall may take several rounds with several calls each, but at most four rounds", async () => {
    const pair: Reply = {
      toolCalls: [
        { id: "a", name: RECALL_TOOL, input: { query: "port" } },
        { id: "b", name: EXPAND_TOOL, input: { entry: "nothing#7" } },
      ],
      usage: { input: 10, output: 1 },
    };
    const upstream = await scripted({ ...pair, text: "Looking." }, pair, pair, pair, pair, pair, {
      text: "Never sent.",
    });
    const gateway = await startGateway({ upstream: upstream.url, config: RECALLS });
    const seen = await talk({ gateway, api, isStreamed }, [userSays("Find it.")]);
    expect(upstream.heard).toHaveLength(5);
    expect(seen.texts).toEqual(["Looking."]);
    expect(seen.calls).toEqual([]);
    expect(["end_turn", "stop", "completed"]).toContain(seen.stop);
    const last = upstream.heard[4];
    expect(JSON.stringify(last && elementsOf(last)).match(/There is no entry nothing#7/g)).toHaveLength(4);
    expect(last?.body.toString()).toContain("answer now");
  });

  sizedTest("calls of the client's tools reach the client without the recalls next to them", async () => {
    const mixed: Reply = {
      text: "Both.",
      toolCalls: [
        { id: "a", name: RECALL_TOOL, input: { query: "port" } },
        { id: "b", name: "read", input: { path: "x" } },
        { id: "c", name: EXPAND_TOOL, input: { entry: "x#1" } },
      ],
    };
    const upstream = await scripted(mixed, { text: "Fine." });
    const gateway = await startGateway({ upstream: upstream.url, config: RECALLS });
    const talker = { gateway, api, isStreamed };
    const seen = await talk(talker, [userSays("Read x.")]);
    expect(seen.calls).toEqual([{ id: "b", name: "read", input: { path: "x" } }]);
    expect(["tool_use", "tool_calls", "completed"]).toContain(seen.stop);
    expect(upstream.heard).toHaveLength(1);
    const then = [userSays("Read x."), ...seen.elements, toolSays(api, "b", "contents")];
    expect((await talk(talker, then)).texts).toEqual(["Fine."]);
    expect(elementsOf(upstream.heard[1] as never)).toEqual(then);
    expect(await threadsOf(gateway)).toHaveLength(1);
  });

  proofTest(
    "a reply whose later round is refused ends with the words so far, or with the error if there are none",
    async () => {
      const refused: Behaviour = { type: "error", kind: "overloaded" };
      const upstream = await scripted(recalls("port", "Let me look."), refused);
      const gateway = await startGateway({ upstream: upstream.url, config: RECALLS });
      const seen = await talk({ gateway, api, isStreamed }, [userSays("Find it.")]);
      expect(seen.texts).toEqual(["Let me look."]);
      expect(["end_turn", "stop", "completed"]).toContain(seen.stop);

      const silent = await scripted(recalls("port"), refused);
      const other = await startGateway({ upstream: silent.url, config: RECALLS });
      const answer = await askRaw({ gateway: other, api, isStreamed }, [userSays("Find it.")]);
      expect(answer.text).toMatch(/overloaded/i);
      expect(answer.status).toBe(isStreamed ? 200 : api === "anthropic" ? 529 : 503);
      expect(answer.text).not.toContain("longhaul_");
    },
  );

  sizedTest("recall tools are not offered by default or if the client forces another tool", async () => {
    const upstream = await startUpstream();
    const gateway = await startGateway({ upstream: upstream.url, config: RECALLS });
    const forced: Record<string, unknown> = {
      anthropic: { type: "tool", name: "read" },
      "openai-chat": { type: "function", function: { name: "read" } },
      "openai-responses": { type: "function", name: "read" },
    };
    await talk({ gateway, api, isStreamed }, [userSays("Hello there.")], { tool_choice: forced[api] });
    const own = { ...readTool(api), ...(api !== "openai-chat" && { name: RECALL_TOOL }) };
    if (api !== "openai-chat")
      await talk({ gateway, api, isStreamed }, [userSays("Hello you.")], { tools: [own] });
    for (const { json } of upstream.heard) expect(json.tools).toHaveLength(1);

    const plain = await startGateway({ upstream: upstream.url });
    const sent = upstream.heard.length;
    const rest = { tools: [readTool(api)], odd: 1.5e3 };
    await talk(
      { gateway: plain, api, isStreamed },
      [userSays("What did we say about my port last time?")],
      rest,
    );
    expect(upstream.heard[sent]?.body.toString()).toBe(
      JSON.stringify(
        requestOf(api, isStreamed, [userSays("What did we say about my port last time?")], rest),
      ),
    );
  });
});

describe.each(proofCases(WAYS.filter(([, isStreamed]) => isStreamed)))(
  "a stream of %s that recalls",
  (api) => {
    sizedTest("a stream that recalls ends cleanly when a later round is cut within a sentence", async () => {
      const upstream = await scripted(recalls("port", "Let me look."), {
        type: "cut",
        reply: { text: "It is the port that we chose" },
        afterEvents: api === "openai-responses" ? 6 : 5,
      });
      const gateway = await startGateway({ upstream: upstream.url, config: RECALLS });
      const seen = await talk({ gateway, api, isStreamed: true }, [userSays("Find it.")]);
      expect(seen.texts.join(" ")).toMatch(/^Let me look\.\s+It/);
      expect(["max_tokens", "length", "incomplete"]).toContain(seen.stop);
    });

    sizedTest("a stream that recalls fails if a call of the client's tool is incomplete", async () => {
      const reply: Reply = { text: "Now.", toolCalls: [{ id: "b", name: "read", input: { path: "x" } }] };
      const upstream = await startUpstream((heard, response, index) => {
        if (index === 0) behave(heard, response, { type: "reply", reply: recalls("port", "Let me look.") });
        else {
          const afterEvents = api === "anthropic" ? 7 : api === "openai-chat" ? 3 : 9;
          behave(heard, response, { type: "cut", reply, afterEvents });
        }
      });
      const gateway = await startGateway({ upstream: upstream.url, config: RECALLS });
      const answer = await askRaw({ gateway, api, isStreamed: true }, [userSays("Find it.")]);
      expect(answer.text).toContain('"read"');
      expect(answer.text).toMatch(/"error"/);
      expect(answer.text).not.toMatch(
        /"type":"message_stop"|\[DONE\]|"type":"response\.(?:completed|incomplete)"/,
      );
      const [main] = await threadsOf(gateway, "main");
      const line = await lineOf(await gateway.kernel.session(main?.id));
      expect(JSON.stringify(line)).not.toContain('"tool-call"');
    });

    sizedTest("a stream that recalls disconnects the upstream when the client leaves", async () => {
      const upstream = await startUpstream((heard, response, index) => {
        if (index === 0) says(() => recalls("port", "Let me look."))(heard, response, index);
      });
      const gateway = await startGateway({ upstream: upstream.url, config: RECALLS });
      const leaving = new AbortController();
      const answered = askRaw(
        { gateway, api, isStreamed: true },
        [userSays("Find it.")],
        {},
        { signal: leaving.signal },
      ).catch(() => undefined);
      const inner = await upstream.received(2);
      leaving.abort();
      await answered;
      expect(await inner.closed).toBe(false);
      const [main] = await threadsOf(gateway, "main");
      const said = await lineOf(await gateway.kernel.session(main?.id));
      expect(said.map(({ message }) => textsIn(message)).join()).toContain("Find it.");
    });
  },
);
