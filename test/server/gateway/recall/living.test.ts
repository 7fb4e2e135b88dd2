import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import type { WireName, WireObject } from "../../../../src/wire/wire.ts";
import { TestAgent } from "../../../support/agent.ts";
import { startChild } from "../../../support/child.ts";
import { startGateway } from "../../../support/gateway.ts";
import { proofCases, sizedTest } from "../../../support/proof.ts";
import { Random } from "../../../support/random.ts";
import { type Heard, says, startUpstream } from "../../../support/upstream.ts";
import { promptOf } from "./prompt.ts";

const APIS = ["anthropic", "openai-chat", "openai-responses"] as const;
const KINDS = [
  "turn",
  "turn",
  "turn",
  "long",
  "long",
  "long",
  "remember",
  "kill",
  "second",
  "fork",
  "rewind",
];
/** Longest time between a request and the kill that interrupts it. */
const MAX_LIFE_MS = 60;

/** A conversation of one client, or a branch of it. */
interface Branch {
  readonly agent: TestAgent;
  sent: readonly (readonly WireObject[])[];
  prompt: readonly string[];
  priced: number;
}

/**
 * Lives through random turns with one gateway in its own process, which is killed at random, and one beside it. Returns
 * the places at which a request began otherwise than the one before it without a new receipt, and the number of edits.
 */
async function live(api: WireName, seed: number, steps: number) {
  const random = new Random(seed);
  const upstream = await startUpstream(says((_, index) => ({ text: `Answer ${index}.` })));
  const config = { recall: { offer: "always", context: true } };
  const upstreams = [{ name: "small", baseUrl: upstream.url, apis: [api], window: 16_000 }];
  const beside = await startGateway({ upstream: upstreams, config });
  const { path, kernel } = beside;
  writeFileSync(join(path, "longhaul.json"), JSON.stringify({ port: 0, upstreams, ...config }), {
    mode: 0o600,
  });
  const start = async () => {
    const child = startChild(new URL("../killed/serve-stores.ts", import.meta.url), [upstream.url, path]);
    const { value } = await child.lines.next();
    if (!value) throw new Error(`The gateway did not start: ${child.errors()}`);
    return { child, url: JSON.parse(value)[0] as string };
  };
  let gateway = await start();
  const kill = async () => {
    gateway.child.process.kill("SIGKILL");
    await gateway.child.ended();
    gateway = await start();
  };
  const countPriced = async () => {
    let priced = 0;
    for (const { id } of await kernel.sessions({ limit: 100 })) {
      await using session = await kernel.session(id);
      priced += (await session.overlays.list()).filter(({ entry }) => entry.receipt !== undefined).length;
    }
    return priced;
  };
  const found: string[] = [];
  let edits = 0;
  const openBranch = (name: string, from?: Branch): Branch => {
    const agent = new TestAgent(gateway, api);
    agent.headers["x-longhaul-session"] = name;
    agent.elements = [...(from?.agent.elements ?? [])];
    return { agent, sent: from?.sent ?? [], prompt: from?.prompt ?? [], priced: from?.priced ?? 0 };
  };
  const say = async (branch: Branch, words: string, place: string, isKilled = false) => {
    const { agent, sent, prompt: before } = branch;
    agent.elements.push(...agent.words(words));
    const elements = [...agent.elements];
    if (isKilled) {
      agent.gateway = gateway;
      const cut = agent.send().catch(() => undefined);
      await sleep(random.below(MAX_LIFE_MS));
      await kill();
      await cut;
    }
    agent.gateway = random.chance(0.7) ? gateway : beside;
    const first = upstream.heard.length;
    await agent.next();
    const prompt = promptOf(upstream.heard[first] as Heard).split("\n");
    const known = sent.at(-1) ?? [];
    const same = elements.findIndex((one, index) => !isDeepStrictEqual(one, known[index]));
    const shared = same === -1 ? elements.length : same;
    const isExtended = shared === known.length && shared < elements.length;
    const needed = isExtended ? before.length : shared === 0 ? 0 : Math.min(before.length, shared + 1);
    const at = before.findIndex((line, index) => line !== prompt[index]);
    const priced = await countPriced();
    if (at !== -1 && at < needed) {
      if (priced === branch.priced) found.push(`${place}: line ${at} of ${needed}`);
      else edits++;
    }
    Object.assign(branch, { sent: [...sent, elements], prompt, priced });
  };
  for (const name of ["staging", "billing", "search"])
    await new TestAgent(beside, api).say(
      `The ${name} server listens on port 7781. ${"It is old. ".repeat(40)}`,
    );
  const branches = [openBranch("first"), openBranch("other")];
  for (const branch of branches) await say(branch, `Hello ${branches.indexOf(branch)}.`, "hello");
  for (let step = 0; step < steps; step++) {
    const kind = random.pick(KINDS);
    const place = `seed ${seed}, step ${step} (${kind})`;
    const branch = random.pick(branches);
    if (kind === "remember") await kernel.memories().remember(`Fact ${step} is settled.`, { by: "user" });
    else if (kind === "second") await kill();
    else if (kind === "fork" && branches.length < 4) {
      branches.push(openBranch(`fork-${step}`, branch));
      await say(branches.at(-1) as Branch, `Another way ${step}.`, place);
    } else {
      const back = branch.sent.filter(({ length }) => length > 2);
      if (kind === "rewind" && back.length > 0) branch.agent.elements = [...random.pick(back)];
      const long =
        kind === "long" ? "go through this part of the plan. ".repeat(200 + random.below(300)) : "";
      const words = random.pick(["which port does the staging server listen on?", "go on."]);
      await say(branch, `Step ${step}: ${words} ${long}`, place, kind === "kill");
    }
  }
  return { found, edits };
}

sizedTest.each(proofCases(APIS))(
  "kills, forks, rewinds, memories and a full window of %s change earlier bytes only in edits with a receipt",
  async (api) => {
    const { found, edits } = await live(api, 1, 40);
    expect(found).toEqual([]);
    expect(edits).toBeGreaterThan(0);
  },
);
