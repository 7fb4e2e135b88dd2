import { describe, expect, onTestFinished, test } from "vitest";
import { type Kernel, openKernel } from "../../../../src/kernel/index.ts";
import { CacheSums, readCacheRows } from "../../../../src/server/cache/cache-report.ts";
import { PauseSample } from "../../../../src/server/cache/pauses.ts";
import { KeepAlive, type KeptRequest } from "../../../../src/server/gateway/cache/keep-alive.ts";
import { closeAgents, createAgents } from "../../../../src/server/gateway/upstream/send-upstream.ts";
import { testFolder } from "../../../support/folder.ts";
import { startUpstream } from "../../../support/upstream.ts";

const MODEL = "claude-sonnet-4-5";
const MINUTE = 60_000;
const TOKENS = 100_000;
/** A refresh reads the prefix at $0.30 a million, and asks for one token at $15. */
const REFRESH_DOLLARS = (TOKENS * 0.3 + 15) / 1e6;

const pausesOf = (minutes: number) => {
  const pauses = new PauseSample();
  for (let count = 0; count < 5_000; count++) pauses.add(minutes * MINUTE);
  return pauses;
};

async function world({ maxDollars = 1, minutes = 7, isOn = true, onHeard = async (_: Kernel) => {} } = {}) {
  const upstream = await startUpstream(async (_, response) => {
    await onHeard(kernel);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const usage = {
      input_tokens: 0,
      cache_read_input_tokens: TOKENS,
      cache_creation_input_tokens: 0,
      output_tokens: 1,
    };
    response.write(
      `event: message_start\ndata: ${JSON.stringify({ type: "message_start", message: { usage } })}\n\n`,
    );
  });
  const kernel = await openKernel({ path: testFolder(), embedder: null });
  await using talk = await kernel.session("talk");
  const question = await talk.append({ role: "user", text: "Hello" });
  const agents = createAgents({ keepAliveMs: 1_000 });
  // After the question, and before whatever a test does to the conversation.
  const clock = { now: question.at };
  const timers: { readonly run: () => void; readonly at: number; isCanceled: boolean }[] = [];
  const errors: unknown[] = [];
  let spent = 0;
  const gate = kernel.team.openGate((error) => errors.push(error));
  const right = { isValid: true };
  const keepAlive = new KeepAlive({
    kernel,
    agents,
    gate,
    config: () =>
      ({
        cache: { ttl: "client", keepAlive: isOn, maxKeepAliveDollars: maxDollars },
        limits: { connectMs: 5_000, firstByteMs: 5_000 },
      }) as never,
    onError: (error) => errors.push(error),
    onSpent: (_, dollars) => {
      spent += dollars;
    },
    now: () => clock.now,
    schedule: (run, ms) => {
      const timer = { run, at: clock.now + ms, isCanceled: false };
      timers.push(timer);
      return () => {
        timer.isCanceled = true;
      };
    },
  });
  onTestFinished(async () => {
    keepAlive.close();
    gate.close();
    closeAgents(agents);
    await kernel.close();
  });
  const { port } = new URL(upstream.url);
  const pauses = pausesOf(minutes);
  const request: KeptRequest = {
    session: "talk",
    model: MODEL,
    upstream: "anthropic",
    url: {
      protocol: "http:",
      hostname: "127.0.0.1",
      host: `127.0.0.1:${port}`,
      port,
      path: "/v1/messages",
    } as never,
    headers: (length) => ["content-type", "application/json", "content-length", String(length), "host", "x"],
    body: Buffer.from(
      JSON.stringify({ model: MODEL, max_tokens: 4_096, messages: [{ role: "user", content: "Hello" }] }),
    ),
    sentAt: clock.now,
    ttlMs: 5 * MINUTE,
    tokens: TOKENS,
    prices: kernel.modelFacts(MODEL).prices,
    pauses: () => pauses,
    person: "alice",
    project: undefined,
    isAdmitted: async () => right.isValid,
  };
  /** Lets the next timer fire, and waits for its refresh to end. */
  const fire = async () => {
    const timer = timers.findLast(({ isCanceled }) => !isCanceled);
    if (!timer) return;
    timer.isCanceled = true;
    clock.now = timer.at;
    const heard = upstream.heard.length;
    timer.run();
    for (let tries = 0; tries < 400; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      const isBooked =
        upstream.heard.length > heard && (timers.some(({ isCanceled }) => !isCanceled) || errors.length > 0);
      if (isBooked || (keepAlive.sizeBytes === 0 && tries > 4)) return;
    }
  };
  return { upstream, kernel, keepAlive, request, fire, errors, timers, clock, right, spent: () => spent };
}

type World = Awaited<ReturnType<typeof world>>;

describe("keepAlive", () => {
  test("keepAlive repeats the last request before the cache expires, and books the cost in the conversation", async () => {
    const { upstream, kernel, keepAlive, request, fire, errors, spent, clock } = await world();
    const { sentAt } = request;
    keepAlive.keep(request);
    await fire();
    expect(errors).toEqual([]);
    expect(clock.now - sentAt).toBeLessThan(5 * MINUTE);
    expect(upstream.heard).toHaveLength(1);
    expect(upstream.heard[0]?.json).toEqual({
      ...JSON.parse(request.body.toString()),
      max_tokens: 1,
      stream: true,
    });
    expect(spent()).toBeCloseTo(REFRESH_DOLLARS, 9);
    await using session = await kernel.session("talk");
    const sums = new CacheSums();
    await sums.addConversation(readCacheRows(session, (model) => kernel.modelFacts(model)));
    expect(sums.report.ledger).toMatchObject([{ action: "keep-alive", credit: 0, count: 1 }]);
    expect(sums.report.ledger[0]?.debit).toBeCloseTo(REFRESH_DOLLARS, 9);
    expect(sums.report.dollars).toBeCloseTo(REFRESH_DOLLARS, 9);
  });

  test("keepAlive stops at the daily cost limit", async () => {
    const { upstream, keepAlive, request, fire } = await world({
      maxDollars: REFRESH_DOLLARS * 1.5,
      minutes: 1_000,
    });
    keepAlive.keep({ ...request, pauses: () => pausesOf(30) });
    for (let count = 0; count < 4; count++) await fire();
    expect(upstream.heard.length).toBeLessThanOrEqual(1);
    expect(keepAlive.sizeBytes).toBe(0);
  });

  test("keepAlive does nothing when users never return after such a pause, or when it is off", async () => {
    for (const options of [{ minutes: 100_000 }, { isOn: false }]) {
      const { upstream, keepAlive, request, fire } = await world(options);
      keepAlive.keep(request);
      await fire();
      expect(upstream.heard).toHaveLength(0);
      expect(keepAlive.sizeBytes).toBe(0);
    }
  });

  test.each([
    ["has lost a message", async (kernel: Kernel) => (await kernel.session("talk")).redact(1)],
    ["was deleted", async (kernel: Kernel) => kernel.deleteSession("talk")],
  ])("keepAlive does not send the request of a conversation that %s since", async (state, change) => {
    const { upstream, kernel, keepAlive, request, fire, errors } = await world();
    keepAlive.keep({ ...request, sentAt: request.sentAt - 1 });
    await change(kernel);
    await fire();
    expect([upstream.heard.length, keepAlive.sizeBytes, errors]).toEqual([0, 0, []]);
    expect(await kernel.find("talk")).toEqual(state === "was deleted" ? undefined : expect.anything());
  });

  test.each([
    [
      "the person's token was revoked",
      async ({ right }: World) => {
        right.isValid = false;
      },
    ],
    [
      "the person's budget is used up",
      async ({ kernel }: World) => {
        await kernel.team.add("alice", { by: "test" });
        await kernel.team.setBudget(
          { person: "alice", amount: 0, unit: "usd", period: "day" },
          { by: "test" },
        );
      },
    ],
    [
      "the team's budget is used up",
      async ({ kernel }: World) =>
        void (await kernel.team.setBudget({ amount: 0, unit: "usd", period: "day" }, { by: "test" })),
    ],
  ])("keepAlive sends nothing once %s", async (_, change) => {
    const made = await world();
    made.keepAlive.keep(made.request);
    await change(made);
    await made.fire();
    expect([made.upstream.heard.length, made.keepAlive.sizeBytes, made.errors]).toEqual([0, 0, []]);
  });

  test("keepAlive counts each refresh in the budgets of its person and of the team", async () => {
    const { kernel, keepAlive, request, fire } = await world();
    await kernel.team.add("alice", { by: "test" });
    await kernel.team.setBudget({ person: "alice", amount: 1, unit: "usd", period: "day" }, { by: "test" });
    await kernel.team.setBudget({ amount: 1, unit: "usd", period: "day" }, { by: "test" });
    keepAlive.keep(request);
    await fire();
    const budgets = await kernel.team.budgets("alice");
    expect(budgets).toHaveLength(2);
    for (const { spent, reserved } of budgets) {
      expect(spent).toBeCloseTo(REFRESH_DOLLARS, 9);
      expect(reserved).toBe(0);
    }
  });

  test("twelve idle conversations at once stay below the day's ceiling, also at two gateways over one store", async () => {
    const { upstream, kernel, keepAlive, request, timers, clock, errors } = await world({
      maxDollars: REFRESH_DOLLARS * 2.5,
    });
    expect(await kernel.team.isInUse()).toBe(false);
    for (let number = 0; number < 12; number++) {
      await using talk = await kernel.session(`talk-${number}`);
      await talk.append({ role: "user", text: "Hello" });
      keepAlive.keep({ ...request, session: talk.id });
    }
    const due = timers.splice(0);
    clock.now = Math.max(...due.map(({ at }) => at));
    for (const { run } of due) run();
    await expect.poll(() => upstream.heard.length).toBe(2);
    await expect.poll(() => timers.length).toBe(2);
    expect(upstream.heard).toHaveLength(2);
    expect(errors).toEqual([]);
    // A ceiling is not a budget that anybody set: a gateway without people stays open.
    expect([await kernel.team.isInUse(), await kernel.team.budgets()]).toEqual([false, []]);
  });

  test("a conversation that is erased while its refresh is on its way is not made again", async () => {
    const { kernel, keepAlive, request, fire, errors, spent } = await world({
      onHeard: async (own) => void (await own.deleteSession("talk")),
    });
    keepAlive.keep(request);
    await fire();
    expect([await kernel.find("talk"), keepAlive.sizeBytes, spent(), errors]).toEqual([undefined, 0, 0, []]);
  });

  test("keepAlive forgets the request of a conversation that goes on", async () => {
    const { keepAlive, request, timers } = await world();
    keepAlive.keep(request);
    keepAlive.forget("talk");
    expect(timers.every(({ isCanceled }) => isCanceled)).toBe(true);
    expect(keepAlive.sizeBytes).toBe(0);
  });
});
