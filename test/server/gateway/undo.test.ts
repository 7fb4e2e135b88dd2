import { expect, test } from "vitest";
import { startGateway, type TestGateway, threadsOf } from "../../support/gateway.ts";
import { proofTest } from "../../support/proof.ts";
import { work } from "../../window/session/history.ts";
import { output, startLimitedUpstream } from "./limited.ts";
import { working, workOn } from "./long-session.ts";

const API = "anthropic";
const WINDOW = 200_000;

async function startWorkingUpstream(window: number) {
  return startLimitedUpstream({
    api: API,
    window,
    count: (body) => Math.ceil(body.length / 4),
    reply: working,
    isAtOnce: true,
  });
}

const call = async ({ url }: TestGateway, method: "GET" | "POST", path: string, body?: object) => {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  expect(response.status).toBe(200);
  return response.json() as Promise<ReturnType<typeof JSON.parse>>;
};

/** Numbers of the tool outputs that a request holds whole. */
const wholeOutputs = (body: Buffer | undefined, turns: number, characters: number) =>
  Array.from({ length: turns }, (_, turn) => turn).filter((turn) =>
    body?.includes(JSON.stringify(output(turn, turn % 9 === 0 ? 3 * characters : characters)).slice(1, -1)),
  );

test("a revert through the API reports held content, and reverting the revert releases it", async () => {
  const gateway = await startGateway({ upstream: "http://127.0.0.1:1" });
  const session = await gateway.kernel.session("held");
  await work(session, 60);
  const options = { model: "claude-sonnet-4-5", system: 1_000 } as const;
  expect((await session.window(options).fit({ cache: "cold" })).plan).toBeDefined();
  const { by, isHeld } = await call(gateway, "POST", "/sessions/held/revert", {});
  expect(isHeld).toBe(true);
  const { held, limits } = await call(gateway, "GET", "/sessions/held/window");
  expect(held).toMatchObject([{ revert: { session: "held", seq: by }, messagesLeft: 0 }]);
  expect(held[0].messages).toBeGreaterThan(0);
  expect(limits.from).toBe(0.8 * limits.window);
  const released = await call(gateway, "POST", "/sessions/held/revert", { overlay: by });
  expect(released.isHeld).toBe(false);
  expect((await call(gateway, "GET", "/sessions/held/window")).held).toEqual([]);
});

proofTest(
  "content that an undo brought back stays in the next calls, even after a restart of the gateway",
  async () => {
    const upstream = await startWorkingUpstream(WINDOW);
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = await workOn(gateway, { api: API, turns: 70, characters: 7_000, clientWindow: WINDOW });
    const [main] = await threadsOf(gateway, "main");
    const at = `/sessions/${encodeURIComponent(String(main?.id))}`;
    const count = () => wholeOutputs(upstream.heard.at(-1)?.body, 70, 7_000).length;
    const before = count();
    const { by, isHeld } = await call(gateway, "POST", `${at}/revert`, {});
    expect(isHeld).toBe(true);
    const undone = await call(gateway, "GET", `${at}/window`);
    expect(undone.held).toMatchObject([{ revert: { seq: by }, messagesLeft: 0 }]);
    agent.elements = agent.elements.slice(0, -1);
    let { calls } = await agent.next();
    const after = count();
    expect(after).toBeGreaterThan(before);
    await gateway.close();
    const again = await startGateway({ upstream: upstream.url, path: gateway.path });
    agent.gateway = again;
    for (let turn = 0; turn < 3; turn++) {
      ({ calls } = await agent.hand(calls, `result ${turn}`));
      expect(count()).toBeGreaterThanOrEqual(after);
    }
    const { held } = await call(again, "GET", `${at}/window`);
    expect(held).toMatchObject([{ revert: { seq: by }, messages: undone.held[0].messages, messagesLeft: 0 }]);
    await call(again, "POST", `${at}/revert`, { overlay: by });
    expect((await call(again, "GET", `${at}/window`)).held).toEqual([]);
  },
);

proofTest("an undo over the limit keeps the next call as large, and Release drops the rest", async () => {
  const window = 40_000;
  const upstream = await startWorkingUpstream(window);
  const upstreams = [{ name: "small", baseUrl: upstream.url, apis: [API], window }];
  const gateway = await startGateway({ upstream: upstreams });
  const agent = await workOn(gateway, { api: API, turns: 50, characters: 4_000, clientWindow: WINDOW });
  const [main] = await threadsOf(gateway, "main");
  const at = `/sessions/${encodeURIComponent(String(main?.id))}`;
  const count = () => wholeOutputs(upstream.heard.at(-1)?.body, 60, 4_000).length;
  const before = count();
  const { by } = await call(gateway, "POST", `${at}/revert`, {});
  agent.elements = agent.elements.slice(0, -1);
  const { calls } = await agent.next();
  expect(count()).toBeGreaterThanOrEqual(before);
  expect(upstream.refused()).toBe(0);
  await agent.hand(calls, "nothing more");
  expect(count()).toBeGreaterThanOrEqual(before);
  const { held } = await call(gateway, "GET", `${at}/window`);
  expect(held[0].revert.seq).toBe(by);
  expect(held[0].messages).toBeGreaterThan(0);
  expect(held[0].messagesLeft).toBeGreaterThan(0);
  await call(gateway, "POST", `${at}/revert`, { overlay: by });
  expect((await call(gateway, "GET", `${at}/window`)).held).toEqual([]);
});
