import { describe, expect, test } from "vitest";
import { ask, startGateway } from "../../support/gateway.ts";
import { ALICE_TOKEN, BOB_TOKEN, TWO_PEOPLE } from "../../support/people.ts";
import { connectHttp, ERAS } from "./connected.ts";

const QUERY = "the color of the lighthouse door";

async function startMounted(config: object = {}) {
  const gateway = await startGateway({ upstream: "http://127.0.0.1:9", config: { ...config }, hasMcp: true });
  const add = async (id: string, project: string, text: string) => {
    await using session = await gateway.kernel.session(id, { meta: { gateway: { kind: "main", project } } });
    await session.append({ role: "user", text });
  };
  await add("@alice/claude-code:1", "/repo/web", "The lighthouse door of Alice is green.");
  await add("@alice/claude-code:2", "/repo/game", "The lighthouse door in the game is white.");
  await add("@bob/claude-code:1", "/repo/web", "The lighthouse door of Bob is red.");
  await add("import-1", "/repo/web", "The lighthouse door of an import is blue.");
  return { gateway, url: `${gateway.url}/mcp` };
}

describe.each(ERAS)("with tokens, a client of %s", (era) => {
  test("a client with a token sees only the conversations and memories of its person", async () => {
    const { url } = await startMounted(TWO_PEOPLE);
    const alice = await connectHttp(url, { era, headers: { "x-longhaul-token": ALICE_TOKEN } });
    const bob = await connectHttp(url, { era, headers: { authorization: `Bearer ${BOB_TOKEN}` } });
    await alice.call("remember", { text: "The lighthouse door is locked at nine." });
    const hers = await alice.call("recall", { query: QUERY });
    expect(hers.text).toMatch(/green/);
    expect(hers.text).toMatch(/locked at nine/);
    expect(hers.text).not.toMatch(/red|blue/);
    const his = await bob.call("recall", { query: QUERY, where: "everywhere" });
    expect(his.text).toMatch(/red/);
    expect(his.text).not.toMatch(/green|white|blue|nine/);
    for (const cite of ["@alice/claude-code:1#1", "import-1#1", "memory:gateway:@alice#1"]) {
      expect((await bob.call("expand", { cite })).text).toMatch(/^There is no entry/);
      expect((await bob.call("forget", { cite })).isError).toBe(true);
    }
    expect((await bob.call("sessions")).text).not.toContain("alice");
    const uri = "longhaul://session/%40alice%2Fclaude-code%3A1";
    await expect(bob.client.readResource({ uri })).rejects.toThrow();
  });
});

test("a recall puts the project that the client's configuration states first", async () => {
  const { url } = await startMounted(TWO_PEOPLE);
  const headers = { "x-longhaul-token": ALICE_TOKEN, "x-longhaul-project": "/repo/game" };
  const { call } = await connectHttp(url, { era: "2026", headers });
  const { text } = await call("recall", { query: QUERY });
  expect(text).toMatch(/white/);
  expect(text).not.toMatch(/green/);
  expect(text).toContain("Left out: 1 conversation of other projects");
});

test("the MCP endpoint refuses strangers, pages of other origins and other paths", async () => {
  const { gateway } = await startMounted(TWO_PEOPLE);
  const body = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  const status = async (headers: Record<string, string>, path = "/mcp") =>
    (await ask(gateway, { path, body, headers })).status;
  expect(await status({ "x-api-key": "wrong" })).toBe(401);
  expect(await status({ "x-longhaul-token": ALICE_TOKEN, origin: "https://evil.example" })).toBe(403);
  expect(await status({ "x-longhaul-token": ALICE_TOKEN }, "/mcp/other")).toBe(404);
});

test("without tokens, the local user sees everything, and a gateway without the endpoint answers 404", async () => {
  const { url } = await startMounted();
  const { call } = await connectHttp(url, { era: "2026" });
  expect((await call("recall", { query: QUERY })).text).toMatch(/blue/);
  const plain = await startGateway({ upstream: "http://127.0.0.1:9" });
  expect((await ask(plain, { path: "/mcp", body: {} })).status).toBe(404);
});

test("a body nested thousands of levels deep is refused as a bad request, not as a failure of the gateway", async () => {
  const { gateway } = await startMounted();
  const deep = `${"[".repeat(20_000)}1${"]".repeat(20_000)}`;
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recall","arguments":{"query":${deep}}}}`;
  const reply = await ask(gateway, {
    path: "/mcp",
    headers: { accept: "application/json, text/event-stream", "content-type": "application/json" },
    body,
  });
  expect(reply.status).toBe(400);
});
