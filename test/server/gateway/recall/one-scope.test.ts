import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EXPAND_TOOL, RECALL_TOOL } from "../../../../src/server/gateway/recall/recall-tools.ts";
import { testFolder } from "../../../support/folder.ts";
import { ask, startGateway } from "../../../support/gateway.ts";
import { ALICE_TOKEN, BOB_TOKEN, TWO_PEOPLE } from "../../../support/people.ts";
import { proofTest } from "../../../support/proof.ts";
import { says, startUpstream } from "../../../support/upstream.ts";
import { RECALLS, recalls, talk, userSays } from "./talk.ts";

const QUERY = "how many turns open the vault of the cellar";
const HERE = { system: "You help.\n<env>\nWorking directory: /repo/web\n</env>" };

/** A gateway whose model calls a tool in every new conversation, and a store with content from elsewhere. */
async function startMemory(input: object, config: object = {}, name: string = RECALL_TOOL) {
  const upstream = await startUpstream(
    says(({ json }) =>
      json.messages.length === 1 ? { toolCalls: [{ id: "call_1", name, input }] } : { text: "Done." },
    ),
  );
  const gateway = await startGateway({
    upstream: upstream.url,
    config: { ...RECALLS, ...config },
  });
  const { kernel } = gateway;
  const add = async (id: string, cwd: string, text: string) => {
    const session = await kernel.session(id, { meta: { source: { format: "claude-code" }, facts: { cwd } } });
    await session.append({ role: "user", text });
    await session.close();
  };
  await add("claude-code/web", "/repo/web/src", "The vault of the cellar opens with 4417 turns.");
  await add("claude-code/game", "/repo/game", "The vault of the cellar in the game opens with 8820 turns.");
  await kernel
    .memories()
    .remember("The vault of the cellar is the user's own, with 3355 turns.", { by: "user" });
  const folder = join(testFolder(), "notes");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "vault.md"), "The vault of the cellar has 6106 turns in this file.");
  await kernel.memory.indexFiles([folder]);
  const say = (key: string, rest: object = HERE) =>
    talk({ gateway, api: "anthropic", isStreamed: false, key }, [userSays("Look it up.")], rest);
  return { upstream, gateway, say, last: () => upstream.heard.at(-1)?.body.toString() ?? "" };
}

describe("recall without tokens", () => {
  test("the agent's recall finds memories and imports of its project, and says what it left out", async () => {
    const { say, last } = await startMemory({ query: QUERY });
    await say("any-key");
    expect(last()).toContain("4417");
    expect(last()).toContain("3355");
    expect(last()).not.toContain("8820");
    expect(last()).toContain("1 conversations of other projects were left out");
  });

  proofTest("the agent's recall finds everything on request and if the project is unknown", async () => {
    for (const [input, rest] of [
      [{ query: QUERY, where: "everywhere" }, HERE],
      [{ query: QUERY }, { system: "You help." }],
    ] as const) {
      const { say, last } = await startMemory(input);
      await say("any-key", rest);
      for (const found of ["4417", "8820", "3355", "6106"]) expect(last()).toContain(found);
      expect(last()).not.toContain("left out");
    }
  });

  test("the agent can expand an entry of an import", async () => {
    const { say, last } = await startMemory({ entry: "claude-code/web#1" }, {}, EXPAND_TOOL);
    await say("any-key");
    expect(last()).toContain("4417");
  });

  test("a conversation keeps the project that its client named", async () => {
    const { gateway, say } = await startMemory({ query: QUERY });
    await say("any-key");
    const sessions = await gateway.kernel.sessions({ prefix: "local/" });
    expect(sessions[0]?.meta?.gateway).toMatchObject({ kind: "main", project: "/repo/web" });
  });
});

describe("recall with tokens", () => {
  test.each([
    ["recall", { query: QUERY, where: "everywhere" }, RECALL_TOOL],
    ["expand an import", { entry: "claude-code/web#1" }, EXPAND_TOOL],
    ["expand the local memories", { entry: "memory:default#1" }, EXPAND_TOOL],
    ["expand memories of another", { entry: "memory:gateway:@alice#1" }, EXPAND_TOOL],
  ])("with tokens, a person cannot %s", async (_, input, name) => {
    const { gateway, say, last } = await startMemory(input, TWO_PEOPLE, name);
    await gateway.kernel
      .memories("gateway:@alice")
      .remember("The vault of the cellar: 9292 turns.", { by: "user" });
    await say(BOB_TOKEN);
    for (const secret of ["4417", "8820", "3355", "6106", "9292"]) expect(last()).not.toContain(secret);
  });

  test("no person sees another person's conversation in recalls, context or pages", async () => {
    const secret = "The vault of the cellar opens with 7171 turns, says Alice.";
    const upstream = await startUpstream(
      says(({ json }) =>
        JSON.stringify(json.messages).includes("Look") && json.messages.length === 1
          ? recalls(QUERY)
          : { text: "Done." },
      ),
    );
    const config = { ...TWO_PEOPLE, recall: { tools: "always", context: true } };
    const gateway = await startGateway({ upstream: upstream.url, config });
    const person = { gateway, api: "anthropic", isStreamed: false } as const;
    await talk({ ...person, key: ALICE_TOKEN }, [userSays(secret)], HERE);
    await talk({ ...person, key: BOB_TOKEN }, [userSays("Look it up.")], HERE);
    await talk({ ...person, key: BOB_TOKEN }, [userSays(`/context ${QUERY}`)], HERE);
    for (const { body } of upstream.heard.slice(1)) expect(body.toString()).not.toContain("7171");
    const [own] = await gateway.kernel.sessions({ prefix: "@alice/" });
    const id = encodeURIComponent(own?.id ?? "");
    for (const path of ["/api/v1/recall?q=vault", "/api/v1/sessions", "/api/v1/gateway"]) {
      const { text } = await ask(gateway, {
        method: "GET",
        path,
        headers: { "x-longhaul-token": BOB_TOKEN },
      });
      expect(text).not.toContain("7171");
      expect(text).not.toContain("@alice");
    }
    for (const path of [`/api/v1/sessions/${id}`, `/api/v1/recall?q=vault&session=${id}`]) {
      const answer = await ask(gateway, { method: "GET", path, headers: { "x-longhaul-token": BOB_TOKEN } });
      expect(answer.status).toBe(404);
      expect(answer.text).not.toContain("7171");
    }
  });
});
