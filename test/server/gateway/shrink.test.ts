import { expect, test } from "vitest";
import type { WireName, WireObject } from "../../../src/wire/wire.ts";
import { TestAgent } from "../../support/agent.ts";
import { startGateway, threadsOf } from "../../support/gateway.ts";
import { behave, type Heard, startUpstream } from "../../support/upstream.ts";
import { expectWholeLog } from "./long-session.ts";

/** The APIs with tools of the gateway. */
type OlderWireName = Exclude<WireName, "google">;

const CODE = Array.from(
  { length: 60 },
  (_, at) => `export const setting_${at} = load("setting ${at}");`,
).join("\n");
const TESTS = Array.from({ length: 30 }, (_, at) => ` ✓ handles case ${at} of the parser`).join("\n");
const APIS: readonly OlderWireName[] = ["anthropic", "openai-chat", "openai-responses"];
const LIST: Readonly<Record<OlderWireName, string>> = {
  anthropic: "messages",
  "openai-chat": "messages",
  "openai-responses": "input",
};

/** A model that asks for the same file over and over, and once for a test run. */
async function startReader() {
  return startUpstream((heard, response, index) => {
    const call =
      index === 2
        ? { name: "bash", input: { command: "npm test" } }
        : { name: "read_file", input: { path: "src/app.ts" } };
    const toolCalls = [{ id: `call_${index}`, ...call }];
    behave(heard, response, { type: "reply", reply: { text: `Step ${index}.`, toolCalls } });
  });
}

const upstreams = (baseUrl: string) => [{ name: "only", baseUrl, apis: APIS }];
const elementsOf = ({ json }: Heard, api: OlderWireName): readonly WireObject[] => json[LIST[api]];
const textOf = (elements: readonly WireObject[]) =>
  JSON.stringify(elements).replaceAll(/,?"cache_control":\{[^}]*\}/g, "");

test.each(APIS)(
  "over %s, a repeated tool result is sent as a pointer, with the same bytes from then on",
  async (api) => {
    const upstream = await startReader();
    const gateway = await startGateway({ upstream: upstreams(upstream.url) });
    const agent = new TestAgent(gateway, api);
    let reply = await agent.say("Please go on with the work.");
    for (const output of [CODE, CODE, TESTS, `${CODE}\nexport const last = 1;`, "done"])
      reply = await agent.hand(reply.calls, output);
    await expectWholeLog(gateway, agent, api);
    const sent = upstream.heard.map((heard) => textOf(elementsOf(heard, api)));
    // Each request begins with the bytes of the one before it: the provider's cache stays valid.
    for (const [index, text] of sent.entries())
      if (index > 0)
        expect(text.startsWith((sent[index - 1] as string).slice(0, -1)), `request ${index}`).toBe(true);
    const last = sent.at(-1) as string;
    expect(last.split("setting_59")).toHaveLength(2);
    expect(last).toContain("[Lines 1-60 left out: the same as lines 1-60 of #");
    expect(last).toContain("left out: tests that passed; whole: expand #");
    expect(last).toContain("export const last = 1;");
    expect(JSON.stringify(agent.elements).split("setting_59")).toHaveLength(4);

    const [thread] = await threadsOf(gateway);
    const session = await gateway.kernel.session(thread?.id);
    const overlays = await session.overlays.list();
    expect(overlays).toHaveLength(3);
    expect(overlays.every(({ entry }) => entry.receipt !== undefined)).toBe(true);
  },
);

test("a cache marker stays on a shortened tool result as long as the client puts it there", async () => {
  const upstream = await startReader();
  const gateway = await startGateway({ upstream: upstreams(upstream.url) });
  const agent = new TestAgent(gateway, "anthropic");
  let reply = await agent.say("Please go on with the work.");
  for (const output of [CODE, CODE, "something new", CODE, "something else"]) {
    agent.elements.push(...agent.results(reply.calls, [output]));
    const own = agent.elements.at(-1) as { content: WireObject[] };
    own.content[0] = { ...own.content[0], cache_control: { type: "ephemeral" } };
    reply = await agent.next();
    const sent = elementsOf(upstream.heard.at(-1) as Heard, "anthropic");
    const [block] = (sent.at(-1) as { content: WireObject[] }).content;
    expect(block).toMatchObject({ type: "tool_result", cache_control: { type: "ephemeral" } });
    expect(JSON.stringify(sent).split('"cache_control"')).toHaveLength(2);
    const { cache_control: _, ...bare } = own.content[0] as WireObject;
    own.content[0] = bare;
    agent.elements = agent.elements.map((element) =>
      element === (own as WireObject) ? { ...own } : element,
    );
  }
  expect(
    JSON.stringify(elementsOf(upstream.heard.at(-1) as Heard, "anthropic")).split("left out"),
  ).toHaveLength(3);
});

test("a shortened result has the same bytes after a restart, and is sent whole after a revert", async () => {
  const api = "anthropic";
  const upstream = await startReader();
  const gateway = await startGateway({ upstream: upstreams(upstream.url) });
  const agent = new TestAgent(gateway, api);
  let reply = await agent.say("Please go on with the work.");
  for (let turn = 0; turn < 3; turn++) reply = await agent.hand(reply.calls, CODE);
  const before = textOf(elementsOf(upstream.heard.at(-1) as Heard, api));
  expect(before).toContain("left out");
  await gateway.close();
  const second = await startGateway({ upstream: upstreams(upstream.url), path: gateway.path });
  agent.gateway = second;
  await agent.hand(reply.calls, "nothing new");
  const after = textOf(elementsOf(upstream.heard.at(-1) as Heard, api));
  expect(after.startsWith(before.slice(0, -1))).toBe(true);

  const [thread] = await threadsOf(second);
  const session = await second.kernel.session(thread?.id);
  for (const { entry } of await session.overlays.list()) await session.overlays.revert(entry.seq);
  await agent.send();
  expect(elementsOf(upstream.heard.at(-1) as Heard, api)).toEqual(agent.elements);
});

test("a configuration can turn shrinking off, entirely or filter by filter", async () => {
  for (const shrink of [false, { repeats: false }]) {
    const upstream = await startReader();
    const gateway = await startGateway({ upstream: upstreams(upstream.url), config: { shrink } });
    const agent = new TestAgent(gateway, "anthropic");
    let reply = await agent.say("Please go on with the work.");
    for (let turn = 0; turn < 2; turn++) reply = await agent.hand(reply.calls, CODE);
    const { body } = upstream.heard.at(-1) as Heard;
    expect(body.toString().split("setting_59")).toHaveLength(3);
  }
});
