import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { openKernel } from "../../../src/kernel/index.ts";
import { testFolder } from "../../support/folder.ts";
import { serveGateway } from "../../support/served-gateway.ts";

const FOLDER = "/srv/shop";
const PORT = "The staging database of the shop listens on port 6543.";
const PROMPT = {
  session_id: "second",
  cwd: FOLDER,
  hook_event_name: "UserPromptSubmit",
  prompt: "Which port does the staging database of the shop listen on?",
};

async function storeWithPort(): Promise<string> {
  const path = testFolder();
  await using kernel = await openKernel({ path, monitor: false, embedder: null });
  const session = await kernel.session("claude-code/first", { meta: { source: { cwd: FOLDER } } });
  await session.append({ role: "user", text: PORT });
  await session.close();
  await kernel.memory.catchUp();
  return path;
}

const UPSTREAM = "http://127.0.0.1:9";

async function post(url: string, body: object, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

test("the gateway answers a hook over HTTP, and sends nothing to an unknown agent", async () => {
  const { url } = await serveGateway(UPSTREAM, [], await storeWithPort());
  const known = await post(`${url}/hooks/claude-code`, PROMPT);
  expect(known.status).toBe(200);
  expect(JSON.parse(known.text).hookSpecificOutput.additionalContext).toContain(PORT);
  expect(await post(`${url}/hooks/nobody`, PROMPT)).toEqual({ status: 200, text: "{}" });
  expect((await fetch(`${url}/hooks/claude-code`)).status).toBe(405);
});

test("a person gets nothing from the conversations of others, and a wrong token is refused", async () => {
  const store = await storeWithPort();
  const kernel = await openKernel({ path: store, monitor: false, embedder: null });
  const { secret } = await kernel.team.add("alice", { by: "test" });
  await kernel.close();
  const { url } = await serveGateway(UPSTREAM, [], store);
  const transcript = writeTranscript();
  const end = { ...PROMPT, hook_event_name: "SessionEnd", transcript_path: transcript };
  for (const call of [PROMPT, end]) {
    const headers = { "x-longhaul-token": secret };
    expect(await post(`${url}/hooks/claude-code`, call, headers)).toEqual({ status: 200, text: "{}" });
    const wrong = await post(`${url}/hooks/claude-code`, call, { "x-longhaul-token": `${secret}x` });
    expect(wrong.status).toBe(401);
  }
  await sleep(1_000);
  expect(await listSessions(store)).toEqual(["claude-code/first"]);
});

test("a page of another site cannot call a hook", async () => {
  const { url } = await serveGateway(UPSTREAM, [], await storeWithPort());
  const headers = { origin: "https://elsewhere.example", "sec-fetch-site": "cross-site" };
  const answer = await post(`${url}/hooks/claude-code`, PROMPT, headers);
  expect(answer.status).toBe(403);
  expect(answer.text).not.toContain(PORT);
});

test("the end of a session imports its transcript, and a transcript name that is not a file path starts nothing", async () => {
  const store = await storeWithPort();
  const { url } = await serveGateway(UPSTREAM, [], store);
  const end = { session_id: "third", cwd: FOLDER, hook_event_name: "SessionEnd" };
  for (const transcript_path of ["--help", "notes.jsonl", ""])
    expect((await post(`${url}/hooks/claude-code`, { ...end, transcript_path })).text).toBe("{}");
  const transcript_path = writeTranscript();
  expect((await post(`${url}/hooks/claude-code`, { ...end, transcript_path })).text).toBe("{}");
  await expect
    .poll(() => listSessions(store), { timeout: 30_000 })
    .toContainEqual(expect.stringContaining("third"));
});

/** A transcript of Claude Code with one exchange. */
function writeTranscript(): string {
  const base = {
    sessionId: "third",
    cwd: FOLDER,
    version: "2.1.0",
    isSidechain: false,
    userType: "external",
  };
  const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
  const asked = { role: "user", content: "Which port?" };
  const answered = {
    id: "m1",
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-5",
    content: [{ type: "text", text: "6543." }],
  };
  const lines = [
    { ...base, type: "user", uuid: "u1", parentUuid: null, timestamp: at(1), message: asked },
    { ...base, type: "assistant", uuid: "u2", parentUuid: "u1", timestamp: at(2), message: answered },
  ];
  const folder = join(testFolder(), ".claude", "projects", "-srv-shop");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "third.jsonl");
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return path;
}

async function listSessions(path: string): Promise<readonly string[]> {
  await using kernel = await openKernel({ path, monitor: false, embedder: null });
  return (await kernel.sessions({ limit: 100 })).map(({ id }) => id);
}
