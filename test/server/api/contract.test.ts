import { describe, expect, test } from "vitest";
import type { Kernel, Session } from "../../../src/kernel/index.ts";
import { API_ROUTES } from "../../../src/server/api/routes.ts";
import { eventually } from "../../support/eventually.ts";
import { testFolder } from "../../support/folder.ts";
import { startGateway } from "../../support/gateway.ts";
import { PIXEL_PNG } from "../../support/pixel.ts";
import { createSchemaUrl, describeProblem, findTestPostgres } from "../../support/postgres/test-postgres.ts";
import { proofTestIf } from "../../support/proof.ts";
import { ApiClient } from "./support/api-client.ts";
import { localAgentsOf } from "./support/local-agents-of.ts";

const LONG = "The harbor master writes down every ship with its draught and its berth. ".repeat(60);
const MODEL = "claude-sonnet-4-5";
const MESSAGES = Array.from({ length: 24 }, (_, index) => ({
  role: index % 2 === 0 ? "user" : "assistant",
  text: `${index}: ${LONG}`,
  ...(index % 2 === 1 && { model: MODEL }),
}));
const IMAGE = { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL_PNG } };
const USAGE = { inputTokens: 1_000, outputTokens: 50, cacheReadTokens: 3_000 };

const server = await findTestPostgres();

/** A gateway with a client that checks every answer against the document of the API. */
interface World {
  readonly api: ApiClient;
  readonly kernel: Kernel;
  /** Creates a session of 25 messages, the last of them an image; returns its path. */
  talk(): Promise<string>;
  open(id: string): Promise<Session>;
}

/** The document is the same for all gateways, and takes longer to build than most routes take to answer. */
let client: ApiClient | undefined;

async function openWorld(options: { readonly store?: string } = {}): Promise<World> {
  const home = testFolder();
  const gateway = await startGateway({
    ...options,
    upstream: "http://127.0.0.1:9",
    agents: localAgentsOf(home),
  });
  const { kernel } = gateway;
  client ??= await ApiClient.open(gateway);
  const api = client.at(gateway);
  return {
    api,
    kernel,
    open: (id) => kernel.session(id),
    async talk() {
      await api.post("/sessions", { id: "ticket/4711", title: "Harbor", meta: { cwd: "/tmp/harbor" } });
      const at = `/sessions/${encodeURIComponent("ticket/4711")}`;
      await api.post(`${at}/entries`, { messages: MESSAGES });
      const messages = [{ role: "user", content: [IMAGE] }];
      await api.post(`${at}/entries`, { format: "anthropic", messages });
      return at;
    },
  };
}

/** Starts a task that runs until it is ended. */
function startCounter({ kernel }: World) {
  const counter = {
    name: "counter",
    async *run({ signal }: { readonly signal: AbortSignal }) {
      yield { type: "output" as const, text: "one" };
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    },
  };
  return kernel.tasks.start(counter, { to: 3 }, { id: "t1", title: "Count", mode: "foreground" });
}

/** Queues a task that no process here runs. */
const queueBuild = ({ kernel }: World) =>
  kernel.tasks.start("builder", null, { id: "t0", queue: "builds", person: "ada", mode: "background" });

const remember = async ({ api }: World, text: string) =>
  (await api.post("/memories", { text, by: "agent" })).body as { readonly id: string };

const memoryPath = ({ id }: { readonly id: string }) => `/memories/${encodeURIComponent(id)}`;

const listMemoryIds = async ({ api }: World) =>
  (await api.get("/memories")).body.memories.map(({ id }: { id: string }) => id);

/** Adds a first person, with whom everybody needs a token; returns her client. */
async function foundTeam({ api }: World): Promise<ApiClient> {
  const founder = (await api.post("/people", { name: "alice", role: "admin" })).body;
  return api.as(founder.token);
}

async function startReplay({ api, talk }: World): Promise<{ readonly id: string }> {
  await talk();
  const asked = { session: "ticket/4711", window: 16_000, policies: ["longhaul"], curves: true };
  const { body } = await api.post("/replays", asked);
  expect(body).toMatchObject({ type: "replay", state: "running" });
  return body;
}

/** One check of the answer of each route, by its id: for a conversation, a task, a memory or a person. */
const CHECKS: Readonly<Record<string, (world: World) => Promise<void>>> = {
  async createSession({ api }) {
    const session = { id: "ticket/4711", title: "Harbor", meta: { cwd: "/tmp/harbor" } };
    expect(await api.post("/sessions", session)).toMatchObject({
      status: 201,
      body: { id: "ticket/4711", project: "harbor", kind: "main" },
    });
  },
  async getSession(world) {
    const at = await world.talk();
    await world.api.post(`${at}/usage`, { usage: USAGE, model: MODEL, request: "r1" });
    expect((await world.api.get(at)).body).toMatchObject({ model: MODEL, usage: { requests: 1 } });
    expect((await world.api.get(`${at}?usage=false`)).body.usage).toBeUndefined();
  },
  async listSessions(world) {
    await world.talk();
    await using session = await world.open("ticket/4711");
    expect((await world.api.get("/sessions?writing=true")).body.sessions).toEqual([]);
    const draft = session.draft({ role: "assistant", text: "Being wr" });
    await draft.flush();
    expect((await world.api.get("/sessions?writing=true")).body.sessions).toHaveLength(1);
    await draft.discard();
    expect((await world.api.get("/sessions?prefix=ticket%2F")).body.sessions).toHaveLength(1);
    expect((await world.api.get("/sessions?prefix=tickets")).body.sessions).toEqual([]);
    await queueBuild(world);
    expect((await world.api.get("/sessions?kind=task")).body.sessions).toMatchObject([
      { id: "t0", task: "t0", kind: "task" },
    ]);
  },
  async updateSession({ api, talk }) {
    const changed = await api.ask("PATCH", await talk(), { title: "Port", meta: { cwd: null, tag: "x" } });
    expect(changed.body).toMatchObject({ title: "Port", meta: { tag: "x" } });
  },
  async forgetSession({ api, talk }) {
    const at = await talk();
    const fork = (await api.post(`${at}/fork`, { at: 6 })).body;
    const forget = (await api.post(`${at}/forget`, { recursive: true })).body;
    expect(forget.descendants).toEqual([fork.id]);
    await api.post(`${at}/forget`, { recursive: true, confirm: forget.confirm });
    expect((await api.get(at)).status).toBe(404);
  },
  async listChildren({ api, talk }) {
    const at = await talk();
    const fork = (await api.post(`${at}/fork`, { at: 6 })).body;
    expect((await api.get(`${at}/children?usage=false`)).body.sessions).toMatchObject([{ id: fork.id }]);
  },
  async listExportFormats({ api }) {
    expect((await api.get("/formats")).body.formats[0].name).toBe("markdown");
  },
  async exportSession({ api, talk }) {
    expect(await (await api.download(`${await talk()}/export`)).text()).toContain("# Harbor");
  },
  async listEntries({ api, talk }) {
    const at = await talk();
    const page = (await api.get(`${at}/entries?limit=10&kinds=message`)).body;
    expect(page.entries.map(({ seq }: { seq: number }) => seq)).toEqual(
      Array.from({ length: 10 }, (_, index) => 16 + index),
    );
    const older = await api.get(`${at}/entries?limit=10&before=${encodeURIComponent(page.before)}`);
    expect(older.body.entries.at(-1).seq).toBe(15);
    expect((await api.get(`${at}/entries?limit=3&after=20`)).body.entries[0].seq).toBe(21);
    expect((await api.get(`${at}/entries?limit=3&around=ticket%2F4711%235`)).body.entries[1].seq).toBe(5);
    const log = (await api.get(`${at}/entries?limit=4&line=log&before=9`)).body;
    expect(log).toMatchObject({ before: "5", after: "8" });
  },
  async getEntry({ api, talk }) {
    const { body } = await api.get(`${await talk()}/entries/3`);
    expect(body.message.parts[0].text).toContain("2: The harbor");
  },
  async getBlob({ api, talk }) {
    const at = await talk();
    const { digest } = (await api.get(`${at}/entries/25`)).body.message.parts[0];
    const blob = await api.download(`${at}/entries/25/blobs/${digest}`);
    expect(Buffer.from(await blob.arrayBuffer())).toEqual(Buffer.from(PIXEL_PNG, "base64"));
    expect((await api.get(`${at}/entries/25/blobs/${"0".repeat(64)}`)).status).toBe(404);
  },
  async listDrafts({ api, talk, open }) {
    const at = await talk();
    await using session = await open("ticket/4711");
    const draft = session.draft({ role: "assistant", text: "Being wr" });
    await draft.flush();
    expect((await api.get(`${at}/drafts`)).body.drafts).toHaveLength(1);
    await draft.discard();
    expect((await api.get(`${at}/drafts`)).body.drafts).toEqual([]);
  },
  async tailEntries({ api, talk, open }) {
    const at = await talk();
    const tail = await api.follow(`${at}/tail?after=23`, 2);
    expect(tail.map(({ id }) => id)).toEqual(["24", "25"]);
    const resumed = await api.follow(`${at}/tail?after=0`, 1, { lastEventId: "24" });
    expect(resumed[0]?.id).toBe("25");
    await using session = await open("ticket/4711");
    const draft = session.draft({ role: "assistant", text: "Being wr" });
    await draft.flush();
    const [live] = await api.follow(`${at}/tail?drafts=true`, 1);
    expect(live).toMatchObject({
      event: "drafts",
      data: { drafts: [{ message: { parts: [{ text: "Being wr" }] } }] },
    });
    await draft.discard();
  },
  async appendMessages({ api, talk }) {
    const at = await talk();
    const appended = await api.post(`${at}/entries`, { messages: MESSAGES, key: "first" });
    expect(appended.body.entries).toHaveLength(24);
    const again = await api.post(`${at}/entries`, { messages: MESSAGES, key: "first" });
    expect(again.body).toMatchObject({ isRepeated: true, entries: appended.body.entries });
  },
  async reportUsage({ api, talk }) {
    const at = await talk();
    expect((await api.post(`${at}/usage`, { usage: USAGE, model: MODEL, request: "r1" })).status).toBe(201);
    expect((await api.get(`${at}/usage`)).body.requests).toHaveLength(1);
  },
  async readMessages({ api, talk }) {
    const openai = await api.get(`${await talk()}/messages?format=openai-responses&limit=2`);
    expect(openai.body).toMatchObject({ hasMore: true, entries: ["ticket/4711#24", "ticket/4711#25"] });
  },
  async getWindow({ api, talk }) {
    const window = (await api.get(`${await talk()}/window?plan=true&slots=true&window=20000`)).body;
    expect(window).toMatchObject({ messages: 25, model: MODEL });
    expect(window.slots[0]).toMatchObject({ entry: "ticket/4711#1", isEdited: false });
  },
  async fitWindow({ api, talk }) {
    const fitted = await api.post(`${await talk()}/fit`, { window: 16_000, format: "anthropic" });
    expect(fitted.body.tokens).toBeLessThan(16_000);
    expect(fitted.body.plan.receipt.tokens.without).toBeGreaterThan(fitted.body.tokens);
  },
  async listReceipts({ api, talk }) {
    const at = await talk();
    await api.post(`${at}/fit`, { window: 16_000 });
    expect((await api.get(`${at}/receipts?holding=true`)).body.overlays).toHaveLength(1);
  },
  async getReceipt({ api, talk }) {
    const at = await talk();
    await api.post(`${at}/fit`, { window: 16_000 });
    const [receipt] = (await api.get(`${at}/receipts`)).body.overlays;
    expect((await api.get(`${at}/receipts/${receipt.seq}`)).body.edit.type).toBe("plan");
  },
  async findInWindow({ api, talk }) {
    const found = (await api.get(`${await talk()}/entries/1/window`)).body;
    expect(found).toMatchObject({ seq: 1, isPinned: false });
  },
  async getCurve({ api, talk }) {
    const at = await talk();
    await api.post(`${at}/usage`, { usage: USAGE, model: MODEL, request: "r1" });
    await api.post(`${at}/fit`, { window: 16_000 });
    const [receipt] = (await api.get(`${at}/receipts`)).body.overlays;
    const curve = (await api.get(`${at}/curve`)).body;
    expect(curve).toMatchObject({ requests: 1, stretch: 1, tokens: [4_000], cacheShares: [0.75] });
    expect(curve.edits).toMatchObject([
      { seq: receipt.seq, point: 1, isHolding: true, tokens: receipt.receipt.tokens },
    ]);
  },
  async compactSession({ api, talk }) {
    const at = await talk();
    const dry = (await api.post(`${at}/compact`)).body;
    expect(dry).toMatchObject({ isChanged: false, result: { rung: "extractive" } });
    const compacted = (await api.post(`${at}/compact`, { dryRun: false })).body;
    expect(compacted.result.overlay).toBeGreaterThan(25);
  },
  async revertEdit({ api, talk }) {
    const at = await talk();
    await api.post(`${at}/fit`, { window: 16_000 });
    const reverted = await api.post(`${at}/revert`);
    expect(reverted.body).toMatchObject({ isChanged: true, messages: { after: 25 } });
  },
  async redactEntries({ api, talk }) {
    const at = await talk();
    const doomed = (await api.post(`${at}/redact`, { entries: [3] })).body;
    expect(doomed).toMatchObject({ isRedacted: false, entries: [{ seq: 3 }] });
    const { body } = await api.post(`${at}/redact`, { entries: [3], confirm: doomed.confirm });
    expect(body.freed.entries).toBeGreaterThan(0);
    expect((await api.get(`${at}/entries/3`)).body.kind).toBe("redacted");
  },
  async listPins({ api, talk }) {
    const at = await talk();
    await api.post(`${at}/pins`, { entry: 4 });
    expect((await api.get(`${at}/pins`)).body.pins).toHaveLength(1);
  },
  async pinEntry({ api, talk }) {
    const { body } = await api.post(`${await talk()}/pins`, { entry: 4 });
    expect(body).toMatchObject({ isPinned: true, isChanged: true });
  },
  async unpinEntry({ api, talk }) {
    const at = await talk();
    await api.post(`${at}/pins`, { entry: 4 });
    const { body } = await api.ask("DELETE", `${at}/pins/4`);
    expect(body).toMatchObject({ isPinned: false, isChanged: true });
  },
  async rewindSession({ api, talk }) {
    const at = await talk();
    await api.post(`${at}/rewind`, { entry: 20 });
    expect((await api.get(`${at}/entries?limit=1`)).body.entries[0].seq).toBe(20);
  },
  async removeEntries({ api, talk }) {
    const at = await talk();
    await api.post(`${at}/remove`, { entries: [24, 25], reason: "test" });
    expect((await api.get(`${at}/entries?limit=1`)).body.entries[0].seq).toBe(23);
  },
  async listLines({ api, talk }) {
    const at = await talk();
    const { line } = (await api.post(`${at}/rewind`, { entry: 20 })).body;
    expect((await api.get(`${at}/lines`)).body.lines[0]).toMatchObject({ seq: line, isActive: true });
  },
  async listTodos({ api, talk }) {
    expect((await api.get(`${await talk()}/todos`)).body.todos).toEqual([]);
  },
  async chooseLine({ api, talk }) {
    const at = await talk();
    const { previous } = (await api.post(`${at}/rewind`, { entry: 20 })).body;
    await api.post(`${at}/lines`, { line: previous });
    expect((await api.get(`${at}/entries?limit=1`)).body.entries[0].seq).toBe(25);
  },
  async forkSession({ api, talk }) {
    const fork = (await api.post(`${await talk()}/fork`, { at: 6, title: "Other way" })).body;
    expect(fork).toMatchObject({ parent: "ticket/4711", relation: "fork" });
  },
  async getFact({ api, talk }) {
    expect((await api.get(`${await talk()}/facts/stage`)).body.value).toBeNull();
  },
  async setFact({ api, talk }) {
    const at = await talk();
    await api.post(`${at}/facts/stage`, { value: { done: 3 } });
    expect((await api.get(`${at}/facts/stage`)).body.value).toEqual({ done: 3 });
  },
  async recall({ api, talk }) {
    await talk();
    const found = (await api.get("/recall?q=harbor+master+berth&k=3")).body;
    expect(found.hits[0].session).toBe("ticket/4711");
  },
  async recallLong({ api, talk }) {
    await talk();
    const asked = { question: "harbor master", project: "nowhere" };
    expect((await api.post("/recall", asked)).body.hits).toEqual([]);
  },
  async expand({ api, talk }) {
    const at = await talk();
    const { result } = (await api.post(`${at}/compact`, { dryRun: false })).body;
    const entry = encodeURIComponent(`ticket/4711#${result.overlay}`);
    expect((await api.get(`/expand?entry=${entry}&limit=3`)).body).toMatchObject({ next: 3 });
  },
  async addMemory(world) {
    const memory = await remember(world, "The pier is closed on Mondays.");
    expect(await listMemoryIds(world)).toEqual([memory.id]);
  },
  async listMemories(world) {
    const memory = await remember(world, "The pier is closed on Mondays.");
    expect((await world.api.get("/memories?review=true")).body.memories).toMatchObject([
      { id: memory.id, trust: "agent" },
    ]);
  },
  async reviewMemory(world) {
    const memory = await remember(world, "The pier is closed on Mondays.");
    const reviewed = await world.api.post(`${memoryPath(memory)}/review`, { decision: "accepted" });
    expect(reviewed.body.trust).toBe("user");
  },
  async editMemory(world) {
    const memory = await remember(world, "The pier is closed on Mondays.");
    const text = "The pier is closed on Sundays.";
    const edited = (await world.api.ask("PATCH", memoryPath(memory), { text })).body;
    expect((await world.api.get("/memories")).body.memories).toMatchObject([{ id: edited.id, by: "user" }]);
  },
  async listMemoryAgents(world) {
    await remember(world, "The crane is red.");
    const { agents } = (await world.api.get("/memories/agents")).body;
    expect(agents).toEqual([{ agent: "default", unreviewed: 1 }]);
  },
  async moveMemory(world) {
    const first = await remember(world, "The pier is closed on Mondays.");
    const second = await remember(world, "The crane is red.");
    expect(await listMemoryIds(world)).toEqual([second.id, first.id]);
    await world.api.post(`${memoryPath(second)}/move`, { below: first.id });
    expect(await listMemoryIds(world)).toEqual([first.id, second.id]);
    await world.api.post(`${memoryPath(second)}/move`);
    expect(await listMemoryIds(world)).toEqual([second.id, first.id]);
  },
  async forgetMemory(world) {
    const memory = await remember(world, "The pier is closed on Mondays.");
    const preview = (await world.api.post(`${memoryPath(memory)}/forget`)).body;
    expect(preview).toMatchObject({ isForgotten: false, memory: { id: memory.id } });
    const { confirm } = preview;
    const forgotten = await world.api.post(`${memoryPath(memory)}/forget`, { confirm });
    expect(forgotten.body.isForgotten).toBe(true);
  },
  async listMemoryEvents(world) {
    const memory = await remember(world, "The pier is closed on Mondays.");
    const { confirm } = (await world.api.post(`${memoryPath(memory)}/forget`)).body;
    await world.api.post(`${memoryPath(memory)}/forget`, { confirm });
    expect((await world.api.get("/memories/history")).body.events[0].change).toBe("forgotten");
  },
  async listTasks(world) {
    await startCounter(world);
    expect((await world.api.get("/tasks?state=running")).body.tasks).toMatchObject([
      { id: "t1", title: "Count", isOwned: true, worker: { pid: process.pid } },
    ]);
    await queueBuild(world);
    const [waiting] = (await world.api.get("/tasks?queue=builds&person=ada")).body.tasks;
    expect(waiting).toMatchObject({ id: "t0", queue: "builds", person: "ada", isOwned: false });
    expect(waiting.worker).toBeUndefined();
    expect((await world.api.get("/tasks?queue=builds&person=bo")).body.tasks).toEqual([]);
  },
  async getTask(world) {
    await startCounter(world);
    await world.api.follow("/tasks/t1/tail", 1);
    expect((await world.api.get("/tasks/t1")).body).toMatchObject({ input: { to: 3 }, state: "running" });
  },
  async readTaskOutput(world) {
    await startCounter(world);
    await world.api.follow("/tasks/t1/tail", 2);
    expect((await world.api.get("/tasks/t1/output?limit=1")).body).toMatchObject({ hasMore: true });
  },
  async followTask(world) {
    await startCounter(world);
    const [first] = await world.api.follow("/tasks/t1/tail", 1);
    expect(first?.data.kind).toBe("task");
  },
  async killTask(world) {
    const handle = await startCounter(world);
    expect((await world.api.post("/tasks/t1/kill", { reason: "enough" })).body.state).toBe("killed");
    expect((await handle.status()).outcome?.reason).toBe("enough");
    expect((await world.api.post("/tasks/t1/kill", { reason: "again" })).body.state).toBe("killed");
  },
  async killTasks(world) {
    await queueBuild(world);
    expect((await world.api.post("/tasks/kill", { queue: "nothing" })).body.tasks).toEqual([]);
    const asked = { queue: "builds", reason: "done" };
    expect((await world.api.post("/tasks/kill", asked)).body.tasks).toMatchObject([
      { id: "t0", state: "killed", outcome: { reason: "done" } },
    ]);
  },
  async detachTask(world) {
    await startCounter(world);
    expect((await world.api.post("/tasks/t1/detach")).body.mode).toBe("background");
    await world.api.post("/tasks/t1/kill");
    const moves: { to: string }[] = (await world.api.get("/tasks/t1")).body.moves;
    expect(moves.map(({ to }) => to)).toEqual(["queued", "running", "detaching", "running", "killed"]);
  },
  async listNotices(world) {
    await startCounter(world);
    await world.api.post("/tasks/t1/kill");
    await world.kernel.tasks.cleaned();
    const { notices } = (await world.api.get("/notices")).body;
    expect(notices).toMatchObject([{ task: "t1", state: "killed" }]);
  },
  async getUsage({ api, talk, open }) {
    const at = await talk();
    await api.post(`${at}/usage`, { usage: USAGE, model: MODEL, request: "r1" });
    const spent = (await api.get("/usage?by=model")).body;
    expect(spent.savings).toMatchObject({ basis: "estimated", savedCost: 0 });
    expect(spent).toMatchObject({ cacheShare: 0.75, sessions: 1, total: { requests: 1 } });
    expect(spent.total.cost).toBeGreaterThan(0);
    // Without days and models, those without usage count too, so that the number is that of the list.
    await using ticket = await open("ticket/4711");
    await (await ticket.child({ id: "ticket/4711/helper" })).close();
    expect((await api.get("/usage")).body).toMatchObject({
      sessions: 2,
      subAgents: 1,
      total: { requests: 1 },
    });
    const one = (await api.get(`/usage?by=day&model=${MODEL}&project=harbor`)).body;
    expect(one).toMatchObject({ total: { requests: 1 }, savings: null, rows: [{ saved: null }] });
    expect((await api.get("/usage?by=agent&project=nowhere")).body).toMatchObject({ rows: [], sessions: 0 });
    expect((await api.get("/usage?by=session&agent=ticket")).body.rows[0].saved.savedCost).toBe(0);
  },
  async getEstimate({ api }) {
    expect((await api.get("/usage/estimate")).body).toMatchObject({ basis: "replayed" });
  },
  async getControl({ api }) {
    expect((await api.get("/usage/control?since=1")).body).toMatchObject({ basis: "measured", groups: [] });
  },
  async listRequests({ api, talk }) {
    const at = await talk();
    await api.post(`${at}/usage`, { usage: USAGE, model: MODEL, request: "r1" });
    expect((await api.get(`${at}/usage`)).body.requests).toMatchObject([
      { promptTokens: 4_000, cacheShare: 0.75 },
    ]);
  },
  async getCacheReport({ api, talk }) {
    await api.post(`${await talk()}/usage`, { usage: USAGE, model: MODEL, request: "r1" });
    expect((await api.get("/usage/cache?since=1")).body).toMatchObject({ requests: 1, causes: [] });
  },
  async getSessionCache({ api, talk }) {
    const report = (await api.get(`${await talk()}/cache`)).body;
    expect(report).toMatchObject({ session: "ticket/4711", misses: [] });
  },
  async addPerson(world) {
    const admin = await foundTeam(world);
    const added = await admin.post("/people", { name: "bob", role: "admin" });
    expect(added).toMatchObject({ status: 201, body: { token: expect.any(String) } });
    expect((await world.api.get("/people")).status).toBe(401);
  },
  async listPeople(world) {
    const admin = await foundTeam(world);
    expect((await admin.get("/people")).body.me).toEqual({ name: "alice", role: "admin" });
  },
  async changePerson(world) {
    const admin = await foundTeam(world);
    const changed = await admin.ask("PATCH", "/people/alice", { models: ["claude-*"] });
    expect(changed.body).toMatchObject({ name: "alice", models: ["claude-*"] });
  },
  async rotateToken(world) {
    const admin = await foundTeam(world);
    const { token } = (await admin.post("/people/alice/token", { graceMs: 60_000 })).body;
    expect((await world.api.as(token).get("/people")).status).toBe(200);
  },
  async revokeTokens(world) {
    const admin = await foundTeam(world);
    // The last admin keeps her token.
    await admin.post("/people", { name: "bob", role: "admin" });
    expect((await admin.ask("DELETE", "/people/alice/token")).status).toBe(200);
    expect((await admin.get("/people")).status).toBe(401);
  },
  async setBudget(world) {
    const admin = await foundTeam(world);
    const weekly = (await admin.post("/budgets", { amount: 5, unit: "usd", period: "week" })).body;
    expect(weekly).toMatchObject({ amount: 5, unit: "usd" });
  },
  async removeBudget(world) {
    const admin = await foundTeam(world);
    const weekly = (await admin.post("/budgets", { amount: 5, unit: "usd", period: "week" })).body;
    expect((await admin.ask("DELETE", `/budgets/${weekly.id}`)).body).toEqual({ isRemoved: true });
  },
  async listAudit(world) {
    const admin = await foundTeam(world);
    await admin.post("/people/alice/token", { graceMs: 60_000 });
    expect((await admin.get("/audit?limit=1")).body).toMatchObject({ after: 1 });
  },
  async getSignIn({ api }) {
    expect((await api.get("/sign-in")).body).toEqual({ provider: null });
  },
  async signOut({ api }) {
    expect((await api.post("/sign-out")).body).toEqual({ isEnded: false });
  },
  async erasePerson(world) {
    const admin = await foundTeam(world);
    expect((await admin.post("/people/alice/erase", {})).body).toMatchObject({ isErased: false });
  },
  async startReplay(world) {
    const { id } = await startReplay(world);
    await eventually(
      "the replay is done",
      async () => (await world.api.get(`/jobs/${id}`)).body.state !== "running",
    );
    expect((await world.api.get(`/jobs/${id}`)).body).toMatchObject({
      state: "done",
      replay: { messages: 25 },
    });
  },
  async getJob(world) {
    const { id } = await startReplay(world);
    expect((await world.api.get(`/jobs/${id}`)).body).toMatchObject({ id, type: "replay" });
  },
  async listJobs(world) {
    const { id } = await startReplay(world);
    expect((await world.api.get("/jobs")).body.jobs[0].id).toBe(id);
  },
  async stopJob(world) {
    const { id } = await startReplay(world);
    expect((await world.api.ask("DELETE", `/jobs/${id}`)).body).toMatchObject({ id, type: "replay" });
  },
  async listImportPlaces({ api }) {
    expect((await api.get("/imports/places")).status).toBe(200);
  },
  async listHistories({ api }) {
    expect((await api.get("/imports/histories")).status).toBe(200);
  },
  async startIndexing({ api, talk }) {
    await talk();
    expect((await api.post("/index")).body).toMatchObject({ type: "index", state: "running" });
    await eventually(
      "the index is up to date",
      async () => (await api.get("/index")).body.job.state !== "running",
    );
    expect((await api.get("/index/unindexed")).body).toEqual({ sessions: [], after: null });
  },
  async getIndex({ api, talk }) {
    await talk();
    await api.get("/recall?q=harbor");
    expect((await api.get("/index")).body).toMatchObject({ unindexed: 0 });
  },
  async listUnindexed({ api }) {
    await api.post("/sessions", { id: "late" });
    await api.post("/sessions/late/entries", { messages: [{ role: "user", text: "Not indexed yet." }] });
    expect((await api.get("/index/unindexed?limit=1")).body.sessions).toHaveLength(1);
  },
  async listIndexSources(world) {
    await world.talk();
    await remember(world, "The crane is red.");
    await world.api.get("/recall?q=harbor");
    const { sources } = (await world.api.get("/index/sources?limit=1&kind=session")).body;
    expect(sources).toMatchObject([{ name: "ticket/4711", kind: "session" }]);
    const { after } = (await world.api.get("/index/sources?limit=1")).body;
    const next = await world.api.get(`/index/sources?after=${after}`);
    expect(next.body.sources.length).toBeGreaterThan(0);
  },
  async fitMessages({ api }) {
    const messages = MESSAGES.map(({ role, text }) => ({ role, content: [{ type: "text", text }] }));
    const fit = await api.post("/fit", { model: MODEL, window: 16_000, messages });
    expect(fit.body.receipt.tokens.with).toBeLessThan(16_000);
  },
  async listAgents({ api }) {
    const [agent] = (await api.get("/agents")).body.agents;
    expect(agent).toMatchObject({ name: "claude-code", gateway: { state: "absent" } });
  },
  async connectAgent({ api }) {
    const { confirm } = (await api.post("/agents/claude-code/connect")).body;
    await api.post("/agents/claude-code/connect", { confirm });
    expect((await api.get("/agents")).body.agents[0].gateway.state).not.toBe("absent");
  },
  async disconnectAgent({ api }) {
    const { confirm } = (await api.post("/agents/claude-code/connect")).body;
    await api.post("/agents/claude-code/connect", { confirm });
    const disconnect = (await api.post("/agents/claude-code/disconnect")).body;
    expect(disconnect.files).toMatchObject([{ isRemoved: true }]);
    await api.post("/agents/claude-code/disconnect", { confirm: disconnect.confirm });
    expect((await api.get("/agents")).body.agents[0].gateway.state).toBe("absent");
  },
  async getHealth({ api }) {
    expect((await api.get("/health")).body).toMatchObject({ status: "ok", person: "local" });
  },
  async getHealthHistory({ api, kernel }) {
    await kernel.monitor.check();
    await api.post("/health/relieve");
    const history = (await api.get("/health/history?since=1")).body;
    expect(history.points.at(-1)).toMatchObject({ heapUsedBytes: expect.any(Number) });
    expect(history.notes.at(-1)).toMatchObject({ type: "relief", report: { cacheShare: 0.25 } });
  },
  async relieveMemory({ api, kernel }) {
    await kernel.monitor.check();
    expect((await api.post("/health/relieve")).body.cacheShare).toBe(0.25);
  },
  async followEvents({ api, talk, open }) {
    await talk();
    await using session = await open("ticket/4711");
    const events = api.follow("/events", 1);
    const noise = setInterval(() => void session.note("hello"), 50);
    try {
      expect(await events).toMatchObject([{ event: "session", data: { session: "ticket/4711" } }]);
    } finally {
      clearInterval(noise);
    }
  },
  async getGateway({ api }) {
    expect((await api.get("/gateway")).body).toMatchObject({ isOpen: true, threads: [] });
  },
};

/**
 * Importing reads the folders of the person who runs the tests; `imports.test.ts` has its own folders. A sign-in needs a
 * provider, which `sign-in.test.ts` starts.
 */
const ELSEWHERE: ReadonlySet<string> = new Set(["startImport", "beginSignIn", "finishSignIn", "endSignIn"]);
const IDS = API_ROUTES.map(({ id }) => id).filter((id) => !ELSEWHERE.has(id));

async function checkRoute(id: string, options: { readonly store?: string } = {}): Promise<void> {
  const check = CHECKS[id];
  if (!check) throw new Error(`The route ${id} has no check here.`);
  const world = await openWorld(options);
  await check(world);
  expect(world.api.answered, "the check asks its own route").toContain(id);
}

describe("the contract of the API", () => {
  test.each(IDS)("the route %s answers as the document says", (id) => checkRoute(id));

  proofTestIf(!("problem" in server)).each(IDS)(
    `the route %s answers as the document says, over ${describeProblem(server)}`,
    (id) => checkRoute(id, { store: createSchemaUrl(server) }),
  );
});
