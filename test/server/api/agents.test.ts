import { hash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testFolder } from "../../support/folder.ts";
import { startGateway } from "../../support/gateway.ts";
import { ApiClient } from "./support/api-client.ts";
import { localAgentsOf } from "./support/local-agents-of.ts";

const SETTINGS =
  '{\n  "model": "opus",\n  "env": { "ANTHROPIC_API_KEY": "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789" }\n}\n';

async function open(config = {}) {
  const home = testFolder();
  mkdirSync(join(home, ".claude"));
  const path = join(home, ".claude", "settings.json");
  writeFileSync(path, SETTINGS);
  const gateway = await startGateway({
    upstream: "http://127.0.0.1:9",
    agents: localAgentsOf(home),
    config,
  });
  return { path, gateway, api: await ApiClient.open(gateway) };
}

test("an agent is connected after a preview of its file, and disconnecting restores the same bytes", async () => {
  const { path, gateway, api } = await open();
  const found = (await api.get("/agents")).body;
  expect(found.url).toBe(gateway.url);
  expect(found.agents.find(({ name }: { name: string }) => name === "claude-code")).toMatchObject({
    isFound: true,
    gateway: { state: "absent", path },
  });

  const preview = (await api.post("/agents/claude-code/connect")).body;
  expect(preview).toMatchObject({ isApplied: false, files: [{ path, isNew: false }] });
  const lines: { mark: string; text: string }[] = preview.files[0].diff;
  expect(lines.some(({ mark, text }) => mark === "+" && text.includes(gateway.url))).toBe(true);
  expect(JSON.stringify(preview)).not.toContain("abcdefghijklmnopqrstuvwxyz");
  expect(readFileSync(path, "utf8")).toBe(SETTINGS);

  const { confirm } = preview;
  expect((await api.post("/agents/claude-code/connect", { confirm })).body.isApplied).toBe(true);
  expect(JSON.parse(readFileSync(path, "utf8")).env.ANTHROPIC_BASE_URL).toBe(gateway.url);
  const after = (await api.get("/agents")).body.agents;
  expect(after.find(({ name }: { name: string }) => name === "claude-code").gateway.state).toBe("connected");

  const undo = (await api.post("/agents/claude-code/disconnect")).body;
  expect((await api.post("/agents/claude-code/disconnect", { confirm: undo.confirm })).body.isApplied).toBe(
    true,
  );
  expect(readFileSync(path, "utf8")).toBe(SETTINGS);
});

test("connecting an agent does not write a file that changed after its preview", async () => {
  const { path, api } = await open();
  const { confirm } = (await api.post("/agents/claude-code/connect")).body;
  writeFileSync(path, '{ "model": "sonnet" }\n');
  const answer = await api.post("/agents/claude-code/connect", { confirm });
  expect(answer).toMatchObject({ status: 409, body: { error: { code: "PREVIEW_CHANGED" } } });
  expect(readFileSync(path, "utf8")).toBe('{ "model": "sonnet" }\n');
});

test("an agent can be connected through MCP instead of the gateway, and an unknown agent gets a 404", async () => {
  const { api } = await open();
  const preview = (await api.post("/agents/codex/connect", { way: "mcp" })).body;
  expect(preview).toMatchObject({ way: "mcp", files: [{ isNew: true }] });
  expect((await api.post("/agents/nobody/connect")).status).toBe(404);
});

test("neither a person with a token nor a request through a proxy can see or change the agents", async () => {
  const secret = "a-token-of-alice-0123456789";
  const { gateway } = await open({ tokens: [{ name: "alice", sha256: hash("sha256", secret) }] });
  const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
  const paths = [
    ["GET", "/agents"],
    ["POST", "/agents/claude-code/connect"],
    ["POST", "/agents/claude-code/disconnect"],
  ];
  for (const [method = "GET", path = ""] of paths) {
    const body = method === "POST" ? { body: "{}" } : {};
    const reply = await fetch(`${gateway.url}/api/v1${path}`, { method, headers, ...body });
    expect(reply.status, path).toBe(403);
  }
  const { gateway: local } = await open();
  const forwarded = await fetch(`${local.url}/api/v1/agents`, {
    headers: { "x-forwarded-for": "192.0.2.1" },
  });
  expect(forwarded.status).toBe(403);
});
