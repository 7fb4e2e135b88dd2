import { describe, expect, test } from "vitest";
import { testFolder } from "../../../support/folder.ts";
import { ask, startGateway, threadsOf } from "../../../support/gateway.ts";
import { ALICE_TOKEN, BOB_TOKEN, TWO_PEOPLE } from "../../../support/people.ts";
import { proofTest } from "../../../support/proof.ts";
import { says, startUpstream } from "../../../support/upstream.ts";
import { askRaw, recalls, userSays } from "./talk.ts";

const FACT = "The vault of the cellar opens with 7171 turns.";
const TURNS = "7171";
/** A reply with which a client restarts its conversation. */
const SUMMARY = "We talked about the house, its cellar and a vault. ".repeat(6).trim();
const QUERY = "how many turns open the vault of the cellar";

/** A gateway whose model recalls in reply to "Look." and says "Fine." otherwise. */
async function start(config: object = {}, path = testFolder()) {
  const upstream = await startUpstream(
    says(({ json }) =>
      JSON.stringify(json.messages.at(-1)).includes("Look.")
        ? recalls(QUERY)
        : { text: JSON.stringify(json.messages.at(-1)).includes("Sum up.") ? SUMMARY : "Fine." },
    ),
  );
  const gateway = await startGateway({
    upstream: upstream.url,
    path,
    config: { recall: { tools: true, context: true }, ...config },
  });
  const talker = { gateway, api: "anthropic", isStreamed: false } as const;
  const say = async (session: string, said: readonly object[], token?: string): Promise<string> => {
    const from = upstream.heard.length;
    const headers = {
      "x-api-key": "key",
      "x-longhaul-session": session,
      ...(token !== undefined && { "x-longhaul-token": token }),
    };
    await askRaw(talker, said as never, {}, { headers });
    return upstream.heard
      .slice(from)
      .map(({ body }) => body.toString())
      .join();
  };
  let count = 0;
  /** Whether recall as a tool, as context and as a page return the fact. */
  const finds = async (token?: string) => {
    const headers: Record<string, string> = token === undefined ? {} : { "x-longhaul-token": token };
    const page = async (more: string) =>
      (
        await ask(gateway, {
          method: "GET",
          path: `/api/v1/recall?q=${encodeURIComponent(QUERY)}${more}`,
          headers,
        })
      ).text;
    return {
      tool: (await say(`look-${++count}`, [userSays("Look.")], token)).includes(TURNS),
      context: (await say(`ask-${++count}`, [userSays(`As we said: ${QUERY}?`)], token)).includes(TURNS),
      page: (await page("")).includes(TURNS),
      rewound: (await page("&rewound=true")).includes(TURNS),
    };
  };
  return { gateway, say, finds, path };
}

const replied = { role: "assistant", content: "Fine." };
const ALL = { tool: true, context: true, page: true, rewound: true };
const NONE = { tool: false, context: false, page: false, rewound: false };

describe("a message that left its conversation", () => {
  test("a message whose user went back and said something else is found only on request", async () => {
    const { say, finds } = await start();
    const said = [userSays("Hello."), replied, userSays(FACT)];
    await say("chat", said.slice(0, 1));
    await say("chat", said);
    expect(await finds()).toEqual(ALL);
    await say("chat", [...said.slice(0, 2), userSays("Never mind.")]);
    expect(await finds()).toEqual({ ...NONE, rewound: true });
  });

  proofTest("a message that its client removed from the history is still found", async () => {
    const { say, finds } = await start();
    const said = [userSays("Hello."), replied, userSays(FACT), replied, userSays("And now?")];
    for (const end of [1, 3, 5]) await say("chat", said.slice(0, end));
    const stub = userSays("[removed to save room]");
    const rewritten = [
      ...said.slice(0, 2),
      stub,
      { role: "assistant", content: "Fine!" },
      userSays("Go on."),
    ];
    await say("chat", rewritten);
    expect(await finds()).toMatchObject({ tool: true, page: true });
  });

  proofTest.each([
    ["all messages", 0],
    ["all but the first", 2],
  ])(
    "a message is still found after its client has replaced %s with a summary of the conversation",
    async (_, kept) => {
      const { say, finds } = await start();
      const said = [userSays("Hello."), replied, userSays(FACT), replied, userSays("Sum up.")];
      for (const end of [1, 3, 5]) await say("chat", said.slice(0, end));
      await say("chat", [...said.slice(0, kept), userSays(`So far:\n${SUMMARY}\nGo on.`)]);
      expect(await finds()).toEqual(ALL);
    },
  );

  test("a redacted message and a deleted session are no longer found", async () => {
    const { gateway, say, finds } = await start();
    await say("chat", [userSays(FACT)]);
    expect(await finds()).toEqual(ALL);
    const [main] = (await threadsOf(gateway, "main")).filter(({ id }) => id.includes("chat"));
    const id = main?.id ?? "";
    await (await gateway.kernel.session(id)).redact(1);
    expect(await finds()).toEqual(NONE);
    // The title of a session quotes its first message.
    await (await gateway.kernel.session(id)).append({ role: "user", text: "How many turns, did I say?" });
    expect(await finds()).toEqual(NONE);
    await gateway.kernel.deleteSession(id);
    expect(await finds()).toEqual(NONE);
  });
});

proofTest("a conversation does not follow a token that is given to another person", async () => {
  const first = await start(TWO_PEOPLE);
  await first.say("chat", [userSays(FACT)], ALICE_TOKEN);
  expect(await first.finds(ALICE_TOKEN)).toEqual(ALL);
  expect(await first.finds(BOB_TOKEN)).toEqual(NONE);
  await first.gateway.close();
  const [alice, bob] = TWO_PEOPLE.tokens;
  const tokens = [
    { name: "alice", sha256: bob?.sha256 },
    { name: "carol", sha256: alice?.sha256 },
  ];
  const second = await start({ tokens }, first.path);
  expect(await second.finds(ALICE_TOKEN)).toEqual(NONE);
  expect(await second.finds(BOB_TOKEN)).toEqual(ALL);
});
