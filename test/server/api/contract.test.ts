import { expect, test } from "vitest";
import { testFolder } from "../../support/folder.ts";
import { startGateway } from "../../support/gateway.ts";
import { PIXEL_PNG } from "../../support/pixel.ts";
import { createSchemaUrl, describeProblem, findTestPostgres } from "../../support/postgres/test-postgres.ts";
import { proofTestIf } from "../../support/proof.ts";
import { ApiClient } from "./support/api-client.ts";
import { localAgentsOf } from "./support/local-agents-of.ts";

const LONG = "The harbor master writes down every ship with its draught and its berth. ".repeat(60);

const server = await findTestPostgres();
const isMissing = "problem" in server;

test("every route answers as the document says", () => checkRoutes());
proofTestIf(!isMissing)(`every route answers as the document says, over ${describeProblem(server)}`, () =>
  checkRoutes({ store: createSchemaUrl(server) }),
);

async function checkRoutes(options: { readonly store?: string } = {}): Promise<void> {
  const home = testFolder();
  const gateway = await startGateway({
    ...options,
    upstream: "http://127.0.0.1:9",
    agents: localAgentsOf(home),
  });
  const { kernel } = gateway;
  const api = await ApiClient.open(gateway);

  // Sessions and entries.
  const created = await api.post("/sessions", {
    id: "ticket/4711",
    title: "Harbor",
    meta: { cwd: "/tmp/harbor" },
  });
  expect(created).toMatchObject({
    status: 201,
    body: { id: "ticket/4711", project: "harbor", kind: "main" },
  });
  const at = `/sessions/${encodeURIComponent("ticket/4711")}`;
  const messages = Array.from({ length: 24 }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    text: `${index}: ${LONG}`,
    ...(index % 2 === 1 && { model: "claude-sonnet-4-5" }),
  }));
  const appended = await api.post(`${at}/entries`, { messages, key: "first" });
  expect(appended.body.entries).toHaveLength(24);
  const again = await api.post(`${at}/entries`, { messages, key: "first" });
  expect(again.body).toMatchObject({ isRepeated: true, entries: appended.body.entries });
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL_PNG } };
  const seen = await api.post(`${at}/entries`, {
    format: "anthropic",
    messages: [{ role: "user", content: [image] }],
  });
  const { digest } = seen.body.entries[0].message.parts[0];
  const blob = await api.download(`${at}/entries/25/blobs/${digest}`);
  expect(Buffer.from(await blob.arrayBuffer())).toEqual(Buffer.from(PIXEL_PNG, "base64"));
  expect((await api.get(`${at}/entries/25/blobs/${"0".repeat(64)}`)).status).toBe(404);
  expect((await api.get(`${at}/entries/3`)).body.message.parts[0].text).toContain("2: The harbor");
  const page = (await api.get(`${at}/entries?limit=10&kinds=message`)).body;
  expect(page.entries.map(({ seq }: { seq: number }) => seq)).toEqual([
    16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
  ]);
  const older = await api.get(`${at}/entries?limit=10&before=${encodeURIComponent(page.before)}`);
  expect(older.body.entries.at(-1).seq).toBe(15);
  expect((await api.get(`${at}/entries?limit=3&after=20`)).body.entries[0].seq).toBe(21);
  expect((await api.get(`${at}/entries?limit=3&around=ticket%2F4711%235`)).body.entries[1].seq).toBe(5);
  expect((await api.get(`${at}/entries?limit=4&line=log&before=9`)).body).toMatchObject({
    before: "5",
    after: "8",
  });
  await using session = await kernel.session("ticket/4711");
  const draft = session.draft({ role: "assistant", text: "Being wr" });
  await draft.flush();
  expect((await api.get(`${at}/drafts`)).body.drafts).toHaveLength(1);
  expect((await api.get("/sessions?writing=true")).body.sessions).toHaveLength(1);
  await draft.discard();
  const tail = await api.follow(`${at}/tail?after=23`, 2);
  expect(tail.map(({ id }) => id)).toEqual(["24", "25"]);
  const written = session.draft({ role: "assistant", text: "Being wr" });
  await written.flush();
  const [live] = await api.follow(`${at}/tail?drafts=true`, 1);
  expect(live).toMatchObject({
    event: "drafts",
    data: { drafts: [{ message: { parts: [{ text: "Being wr" }] } }] },
  });
  await written.discard();
  const resumed = await api.follow(`${at}/tail?after=0`, 1, { lastEventId: "24" });
  expect(resumed[0]?.id).toBe("25");
  const openai = await api.get(`${at}/messages?format=openai-responses&limit=2`);
  expect(openai.body).toMatchObject({ hasMore: true, entries: ["ticket/4711#24", "ticket/4711#25"] });
  expect((await api.get("/formats")).body.formats[0].name).toBe("markdown");
  expect(await (await api.download(`${at}/export`)).text()).toContain("# Harbor");

  // Usage.
  const usage = { inputTokens: 1_000, outputTokens: 50, cacheReadTokens: 3_000 };
  await api.post(`${at}/usage`, { usage, model: "claude-sonnet-4-5", request: "r1" });
  const spent = (await api.get("/usage?by=model")).body;
  expect(spent.savings).toMatchObject({ basis: "estimated", savedCost: 0 });
  expect((await api.get("/usage/cache?since=1")).body).toMatchObject({ requests: 1, causes: [] });
  expect((await api.get(`${at}/cache`)).body).toMatchObject({ session: "ticket/4711", misses: [] });
  expect((await api.get("/usage/estimate")).body).toMatchObject({ basis: "replayed" });
  expect((await api.get("/sign-in")).body).toEqual({ provider: null });
  expect((await api.post("/sign-out")).body).toEqual({ isEnded: false });
  expect((await api.get("/usage/control?since=1")).body).toMatchObject({ basis: "measured", groups: [] });
  expect(spent).toMatchObject({ cacheShare: 0.75, sessions: 1, total: { requests: 1 } });
  // Without days and models, those without usage count too, so that the number is that of the list.
  await using ticket = await kernel.session("ticket/4711");
  await (await ticket.child({ id: "ticket/4711/helper" })).close();
  expect((await api.get("/usage")).body).toMatchObject({ sessions: 2, subAgents: 1, total: { requests: 1 } });
  await kernel.deleteSession("ticket/4711/helper");
  const one = (await api.get("/usage?by=day&model=claude-sonnet-4-5&project=harbor")).body;
  expect(one).toMatchObject({ total: { requests: 1 }, savings: null, rows: [{ saved: null }] });
  expect((await api.get("/usage?by=agent&project=nowhere")).body).toMatchObject({ rows: [], sessions: 0 });
  expect((await api.get("/usage?by=session&agent=ticket")).body.rows[0].saved.savedCost).toBe(0);
  expect(spent.total.cost).toBeGreaterThan(0);
  expect((await api.get(`${at}/usage`)).body.requests).toMatchObject([
    { promptTokens: 4_000, cacheShare: 0.75 },
  ]);
  expect((await api.get(at)).body).toMatchObject({ model: "claude-sonnet-4-5", usage: { requests: 1 } });
  expect((await api.get(`${at}?usage=false`)).body.usage).toBeUndefined();
  expect((await api.ask("PATCH", at, { title: "Port", meta: { cwd: null, tag: "x" } })).body).toMatchObject({
    title: "Port",
    meta: { tag: "x" },
  });

  // Window, edits, lines.
  const window = (await api.get(`${at}/window?plan=true&slots=true&window=20000`)).body;
  expect(window).toMatchObject({ messages: 25, model: "claude-sonnet-4-5" });
  expect(window.slots[0]).toMatchObject({ entry: "ticket/4711#1", isEdited: false });
  const fitted = await api.post(`${at}/fit`, { window: 16_000, format: "anthropic" });
  expect(fitted.body.tokens).toBeLessThan(16_000);
  expect(fitted.body.plan.receipt.tokens.without).toBeGreaterThan(fitted.body.tokens);
  const receipts = (await api.get(`${at}/receipts?holding=true`)).body.overlays;
  expect(receipts).toHaveLength(1);
  expect((await api.get(`${at}/receipts/${receipts[0].seq}`)).body.edit.type).toBe("plan");
  expect((await api.get(`${at}/entries/1/window`)).body).toMatchObject({ seq: 1, isPinned: false });
  const curve = (await api.get(`${at}/curve`)).body;
  expect(curve).toMatchObject({ requests: 1, stretch: 1, tokens: [4_000], cacheShares: [0.75] });
  expect(curve.edits).toMatchObject([
    { seq: receipts[0].seq, point: 1, isHolding: true, tokens: receipts[0].receipt.tokens },
  ]);
  const reverted = await api.post(`${at}/revert`);
  expect(reverted.body).toMatchObject({ isChanged: true, messages: { after: 25 } });
  const dry = (await api.post(`${at}/compact`)).body;
  expect(dry).toMatchObject({ isChanged: false, result: { rung: "extractive" } });
  const compacted = (await api.post(`${at}/compact`, { dryRun: false })).body;
  expect(compacted.result.overlay).toBeGreaterThan(25);
  const behind = (
    await api.get(`/expand?entry=${encodeURIComponent(`ticket/4711#${compacted.result.overlay}`)}&limit=3`)
  ).body;
  expect(behind).toMatchObject({ next: 3 });
  expect((await api.post(`${at}/pins`, { entry: 4 })).body).toMatchObject({
    isPinned: true,
    isChanged: true,
  });
  expect((await api.get(`${at}/pins`)).body.pins).toHaveLength(1);
  expect((await api.ask("DELETE", `${at}/pins/4`)).body).toMatchObject({ isPinned: false, isChanged: true });
  const rewound = (await api.post(`${at}/rewind`, { entry: 20 })).body;
  expect((await api.get(`${at}/entries?limit=1`)).body.entries[0].seq).toBe(20);
  expect((await api.get(`${at}/lines`)).body.lines[0]).toMatchObject({ seq: rewound.line, isActive: true });
  await api.post(`${at}/lines`, { line: rewound.previous });
  expect((await api.get(`${at}/todos`)).body.todos).toEqual([]);
  expect((await api.get(`${at}/entries?limit=1`)).body.entries[0].seq).toBe(25);
  const removed = (await api.post(`${at}/remove`, { entries: [24, 25], reason: "test" })).body;
  expect((await api.get(`${at}/entries?limit=1`)).body.entries[0].seq).toBe(23);
  await api.post(`${at}/lines`, { line: removed.previous });
  expect((await api.get(`${at}/facts/stage`)).body.value).toBeNull();
  await api.post(`${at}/facts/stage`, { value: { done: 3 } });
  expect((await api.get(`${at}/facts/stage`)).body.value).toEqual({ done: 3 });
  expect((await api.get("/sessions?prefix=ticket%2F")).body.sessions).toHaveLength(1);
  expect((await api.get("/sessions?prefix=tickets")).body.sessions).toEqual([]);
  const fork = (await api.post(`${at}/fork`, { at: 6, title: "Other way" })).body;
  expect(fork).toMatchObject({ parent: "ticket/4711", relation: "fork" });
  expect((await api.get(`${at}/children?usage=false`)).body.sessions).toMatchObject([{ id: fork.id }]);

  // Recall and memories.
  const found = (await api.get("/recall?q=harbor+master+berth&k=3")).body;
  expect(found.hits[0].session).toBe("ticket/4711");
  expect((await api.post("/recall", { question: "harbor master", project: "nowhere" })).body.hits).toEqual(
    [],
  );
  const memory = (await api.post("/memories", { text: "The pier is closed on Mondays.", by: "agent" })).body;
  expect((await api.get("/memories?review=true")).body.memories).toMatchObject([
    { id: memory.id, trust: "agent" },
  ]);
  const inPath = encodeURIComponent(memory.id);
  expect((await api.post(`/memories/${inPath}/review`, { decision: "accepted" })).body.trust).toBe("user");
  const edited = (await api.ask("PATCH", `/memories/${inPath}`, { text: "The pier is closed on Sundays." }))
    .body;
  expect((await api.get("/memories")).body.memories).toMatchObject([{ id: edited.id, by: "user" }]);
  const other = (await api.post("/memories", { text: "The crane is red.", by: "agent" })).body;
  expect((await api.get("/memories/agents")).body.agents).toEqual([{ agent: "default", unreviewed: 1 }]);
  const ids = async () => (await api.get("/memories")).body.memories.map(({ id }: { id: string }) => id);
  expect(await ids()).toEqual([other.id, edited.id]);
  await api.post(`/memories/${encodeURIComponent(other.id)}/move`, { below: edited.id });
  expect(await ids()).toEqual([edited.id, other.id]);
  await api.post(`/memories/${encodeURIComponent(other.id)}/move`);
  expect(await ids()).toEqual([other.id, edited.id]);
  const preview = (await api.post(`/memories/${encodeURIComponent(edited.id)}/forget`)).body;
  expect(preview).toMatchObject({
    isForgotten: false,
    memory: { id: edited.id },
    memories: [{ id: edited.id, trust: "user" }],
  });
  const { confirm } = preview;
  expect(
    (await api.post(`/memories/${encodeURIComponent(edited.id)}/forget`, { confirm })).body.isForgotten,
  ).toBe(true);
  expect((await api.get("/memories/history")).body.events[0].change).toBe("forgotten");

  // Tasks.
  const handle = await kernel.tasks.start(
    {
      name: "counter",
      async *run({ signal }) {
        yield { type: "output", text: "one" };
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      },
    },
    { to: 3 },
    { id: "t1", title: "Count", mode: "foreground" },
  );
  const [first] = await api.follow("/tasks/t1/tail", 1);
  expect(first?.data.kind).toBe("task");
  expect((await api.get("/tasks?state=running")).body.tasks).toMatchObject([
    { id: "t1", title: "Count", isOwned: true, worker: { pid: process.pid } },
  ]);
  await kernel.tasks.start("builder", null, { id: "t0", queue: "builds", person: "ada", mode: "background" });
  const [waiting] = (await api.get("/tasks?queue=builds&person=ada")).body.tasks;
  expect(waiting).toMatchObject({ id: "t0", queue: "builds", person: "ada", isOwned: false });
  expect(waiting.worker).toBeUndefined();
  expect((await api.get("/tasks?queue=builds&person=bo")).body.tasks).toEqual([]);
  expect((await api.get("/sessions?kind=task")).body.sessions).toMatchObject([
    { id: "t0", task: "t0", kind: "task" },
    { id: "t1", task: "t1", kind: "task" },
  ]);
  expect((await api.post("/tasks/kill", { queue: "nothing" })).body.tasks).toEqual([]);
  expect((await api.post("/tasks/kill", { queue: "builds", reason: "done" })).body.tasks).toMatchObject([
    { id: "t0", state: "killed", outcome: { reason: "done" } },
  ]);
  expect((await api.post("/tasks/t0/kill", { reason: "again" })).body.state).toBe("killed");
  expect((await api.get("/tasks/t1")).body).toMatchObject({ input: { to: 3 }, state: "running" });
  expect((await api.post("/tasks/t1/detach")).body.mode).toBe("background");
  expect((await api.get("/tasks/t1/output?limit=1")).body).toMatchObject({ hasMore: true });
  expect((await api.post("/tasks/t1/kill", { reason: "enough" })).body.state).toBe("killed");
  await kernel.tasks.cleaned();
  const moves: { to: string }[] = (await api.get("/tasks/t1")).body.moves;
  expect(moves.map(({ to }) => to)).toEqual(["queued", "running", "detaching", "running", "killed"]);
  expect((await api.get("/notices")).body.notices).toMatchObject([
    { task: "t0", state: "killed" },
    { task: "t1", state: "killed" },
  ]);
  expect((await handle.status()).outcome?.reason).toBe("enough");

  // Jobs, health, fitting without a session.
  const job = (
    await api.post("/replays", {
      session: "ticket/4711",
      window: 16_000,
      policies: ["longhaul"],
      curves: true,
    })
  ).body;
  expect(job).toMatchObject({ type: "replay", state: "running" });
  expect((await api.get("/jobs")).body.jobs[0].id).toBe(job.id);
  while ((await api.get(`/jobs/${job.id}`)).body.state === "running")
    await new Promise((resolve) => setTimeout(resolve, 20));
  expect((await api.ask("DELETE", `/jobs/${job.id}`)).body).toMatchObject({
    state: "done",
    replay: { messages: 25 },
  });
  expect((await api.get("/imports/places")).status).toBe(200);
  expect((await api.get("/imports/histories")).status).toBe(200);
  expect((await api.get("/health")).body).toMatchObject({ status: "ok", person: "local" });
  expect((await api.get("/gateway")).body).toMatchObject({ isOpen: true, threads: [] });
  await api.post("/sessions", { id: "late" });
  await api.post("/sessions/late/entries", { messages: [{ role: "user", text: "Not indexed yet." }] });
  expect((await api.get("/index/unindexed?limit=1")).body.sessions).toHaveLength(1);
  expect((await api.post("/index")).body).toMatchObject({ type: "index", state: "running" });
  while ((await api.get("/index")).body.job.state === "running")
    await new Promise((resolve) => setTimeout(resolve, 20));
  expect((await api.get("/index")).body).toMatchObject({ unindexed: 0, job: { index: { indexed: 1 } } });
  expect((await api.get("/index/unindexed")).body).toEqual({ sessions: [], after: null });
  const sources = (await api.get("/index/sources?limit=1&kind=session")).body;
  expect(sources.sources[0]).toMatchObject({ name: "ticket/4711", kind: "session" });
  expect((await api.get(`/index/sources?after=${sources.after}`)).body.sources.length).toBeGreaterThan(0);
  await kernel.monitor.check();
  expect((await api.post("/health/relieve")).body.cacheShare).toBe(0.25);
  const history = (await api.get("/health/history?since=1")).body;
  expect(history.points.at(-1).heapUsedBytes).toBeGreaterThan(0);
  expect(history.notes.at(-1)).toMatchObject({ type: "relief", report: { cacheShare: 0.25 } });
  const events = api.follow("/events", 1);
  const noise = setInterval(() => void session.note("hello"), 50);
  expect(await events).toMatchObject([{ event: "session", data: { session: "ticket/4711" } }]);
  clearInterval(noise);
  const fit = await api.post("/fit", {
    model: "claude-sonnet-4-5",
    window: 16_000,
    messages: messages.map(({ role, text }) => ({ role, content: [{ type: "text", text }] })),
  });
  expect(fit.body.receipt.tokens.with).toBeLessThan(16_000);

  // Agents, in a separate home folder.
  expect((await api.get("/agents")).body.agents[0]).toMatchObject({
    name: "claude-code",
    gateway: { state: "absent" },
  });
  const connect = (await api.post("/agents/claude-code/connect")).body;
  await api.post("/agents/claude-code/connect", { confirm: connect.confirm });
  const disconnect = (await api.post("/agents/claude-code/disconnect")).body;
  expect(disconnect.files).toMatchObject([{ isRemoved: true }]);
  await api.post("/agents/claude-code/disconnect", { confirm: disconnect.confirm });

  // Erasing, at the end.
  const doomed = (await api.post(`${at}/redact`, { entries: [3] })).body;
  expect(doomed).toMatchObject({ isRedacted: false, entries: [{ seq: 3 }] });
  expect(
    (await api.post(`${at}/redact`, { entries: [3], confirm: doomed.confirm })).body.freed.entries,
  ).toBeGreaterThan(0);
  expect((await api.get(`${at}/entries/3`)).body.kind).toBe("redacted");
  const forget = (await api.post(`${at}/forget`, { recursive: true })).body;
  expect(forget.descendants).toEqual([fork.id]);
  await api.post(`${at}/forget`, { recursive: true, confirm: forget.confirm });
  expect((await api.get(at)).status).toBe(404);

  // People: from the first one on, everybody needs a token.
  const founder = (await api.post("/people", { name: "alice", role: "admin" })).body;
  const admin = api.as(founder.token);
  expect((await admin.get("/people")).body.me).toEqual({ name: "alice", role: "admin" });
  await admin.ask("PATCH", "/people/alice", { models: ["claude-*"] });
  const weekly = (await admin.post("/budgets", { amount: 5, unit: "usd", period: "week" })).body;
  expect((await admin.ask("DELETE", `/budgets/${weekly.id}`)).body).toEqual({ isRemoved: true });
  await admin.post("/people/alice/token", { graceMs: 60_000 });
  expect((await admin.get("/audit?limit=2")).body).toMatchObject({ after: 2 });
  expect((await admin.post("/people/alice/erase", {})).body).toMatchObject({ isErased: false });
  // The last admin keeps her token.
  await admin.post("/people", { name: "bob", role: "admin" });
  expect((await admin.ask("DELETE", "/people/alice/token")).status).toBe(200);

  const { operations, answered } = api;
  expect(operations.length).toBeGreaterThan(40);
  // Importing reads the folders of the person who runs the tests; test/server/api/imports.test.ts has its own folders.
  // A sign-in needs a provider, which test/server/api/sign-in.test.ts starts.
  const elsewhere = ["startImport", "beginSignIn", "finishSignIn", "endSignIn"];
  expect(operations.filter((id) => !answered.has(id)).toSorted()).toEqual(elsewhere.toSorted());
}
