import { spawn } from "node:child_process";
import { describe, expect, test } from "vitest";
import { escapeLine, escapeText, toSafeJson } from "../../src/cli/terminal/escape.ts";
import { createToken } from "../../src/server/gateway/config/access-token.ts";
import { findUid, toTableForms } from "../../src/server/gateway/door/principal.ts";
import { ask, lineOf, startGateway, threadsOf } from "../support/gateway.ts";
import { proofTestIf } from "../support/proof.ts";
import { startUpstream } from "../support/upstream.ts";

const asked = (content: string) => ({
  model: "claude-sonnet-4-5",
  max_tokens: 10,
  messages: [{ role: "user", content }],
});

/** Requests a path as another user of the machine; resolves with the status. */
function askAs(uid: number, url: string): Promise<string> {
  const { host, hostname, port } = new URL(url);
  const script = `
    const socket = require("node:net").connect(${port}, "${hostname}");
    socket.write("GET /api/v1/recall?q=word HTTP/1.1\\r\\nHost: ${host}\\r\\nConnection: close\\r\\n\\r\\n");
    socket.once("data", (bytes) => { process.stdout.write(bytes.toString("latin1").slice(9, 12)); socket.destroy(); });`;
  const child = spawn(process.execPath, ["-e", script], { uid, gid: uid, cwd: "/", env: {} });
  let output = "";
  child.stdout.on("data", (bytes) => {
    output += bytes;
  });
  return new Promise((resolve) => child.on("close", () => resolve(output)));
}

describe("without tokens", () => {
  proofTestIf(process.platform === "linux" && process.getuid?.() === 0)(
    "without tokens, another user of the machine is refused",
    async () => {
      const upstream = await startUpstream();
      const gateway = await startGateway({ upstream: upstream.url });
      expect((await ask(gateway, { path: "/v1/messages", body: asked("word") })).status).toBe(200);
      expect(await askAs(0, gateway.url)).toBe("200");
      expect(await askAs(65_534, gateway.url)).toBe("403");
      const token = createToken();
      const open = await startGateway({ upstream: upstream.url, env: { LONGHAUL_TOKEN: token } });
      expect(await askAs(65_534, open.url)).toBe("401");
    },
  );

  test("the connection tables of Linux are read as the kernel writes them", () => {
    expect(toTableForms("127.0.0.1")).toEqual(["0100007F", "0000000000000000FFFF00000100007F"]);
    expect(toTableForms("::ffff:127.0.0.1")).toEqual(toTableForms("127.0.0.1"));
    expect(toTableForms("::1")).toEqual(["00000000000000000000000001000000"]);
    const line = (uid: number, inode: number) =>
      `   1: 0100007F:D2F0 0100007F:128B 01 00000000:00000000 00:00000000 00000000  ${uid}        0 ${inode} 1 0 20 4 30 10 -1`;
    const wanted = new Set(["0100007F:D2F0 0100007F:128B"]);
    expect(findUid(`head\n${line(1000, 77)}\n`, wanted)).toEqual({ type: "user", uid: 1000 });
    expect(findUid(line(0, 0), wanted)).toEqual({ type: "nobody" });
    expect(findUid(line(0, 5), new Set(["other"]))).toBeUndefined();
  });
});

describe("a browser", () => {
  test("a browser does not display what a provider sends, and redirects to other hosts are dropped", async () => {
    const upstream = await startUpstream((heard, response) => {
      if (heard.url.endsWith("/near"))
        return void response.writeHead(302, { location: "/v1/files/other" }).end();
      if (heard.url.endsWith("/far"))
        return void response.writeHead(302, { location: "https://attacker.example/x" }).end();
      response.writeHead(200, { "content-type": "text/html" }).end("<script>alert(1)</script>");
    });
    const gateway = await startGateway({ upstream: upstream.url });
    const get = (path: string, headers: Record<string, string> = {}) =>
      ask(gateway, { method: "GET", path, headers });
    for (const headers of [
      { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document", "sec-fetch-site": "none" },
      { "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script", "sec-fetch-site": "same-origin" },
      { "upgrade-insecure-requests": "1" },
    ])
      expect((await get("/v1/files/x/content", headers)).status).toBe(403);
    expect(upstream.heard).toHaveLength(0);
    expect((await get("/v1/files/x/content")).status).toBe(200);
    expect((await get("/v1/files/near")).header("location")).toBe("/v1/files/other");
    expect((await get("/v1/files/far")).header("location")).toBeUndefined();
  });
});

describe("a request", () => {
  test.each(["client_secret", "refresh_token", "sig", "id_token", "X-Amz-Signature", "pwd"])(
    "a request with %s in its URL is refused",
    async (name) => {
      const upstream = await startUpstream();
      const gateway = await startGateway({ upstream: upstream.url });
      const path = `/v1/messages?${name}=abcdefgh`;
      expect((await ask(gateway, { path, body: asked("x") })).status).toBe(400);
      expect(upstream.heard).toHaveLength(0);
    },
  );

  test("two long session ids that begin alike stay two conversations", async () => {
    const upstream = await startUpstream();
    const gateway = await startGateway({ upstream: upstream.url });
    for (const end of ["one", "two"]) {
      const headers = { "x-longhaul-session": `${"s".repeat(200)}${end}` };
      const answer = await ask(gateway, { path: "/v1/messages", body: asked(`word ${end}`), headers });
      expect(answer.status).toBe(200);
    }
    const threads = await threadsOf(gateway, "main");
    expect(threads).toHaveLength(2);
    for (const { id } of threads) expect(await lineOf(await gateway.kernel.session(id))).toHaveLength(2);
  });

  test.each([false, true])("deeply nested tool calls get a reply each time (redact: %s)", async (redact) => {
    const upstream = await startUpstream();
    const gateway = await startGateway({ upstream: upstream.url, config: { redact } });
    const depth = 20_000;
    const nested = `${'{"a":['.repeat(depth)}1${"]}".repeat(depth)}`;
    const call = { id: "call_1", type: "function", function: { name: "run", arguments: nested } };
    const messages: object[] = [
      { role: "user", content: "Run it." },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "call_1", content: "done" },
    ];
    for (let turn = 0; turn < 2; turn++) {
      const answer = await ask(gateway, {
        path: "/v1/chat/completions",
        body: { model: "gpt-5", messages },
      });
      expect(answer.status).toBe(200);
      messages.push({ role: "assistant", content: "Fine." }, { role: "user", content: "More." });
    }
  });
});

describe("a terminal", () => {
  test("a terminal never receives characters that hide text", () => {
    const hidden = "a\u200bb\u{e0041}\u{e0100}c\u2060\u00add";
    expect(escapeText(hidden)).toBe("a\\u200bb\\u{e0041}\\u{e0100}c\\u2060\\xadd");
    expect(escapeLine(hidden)).not.toMatch(/[\u200b\u2060\u{e0000}-\u{e0fff}]/u);
    expect(JSON.parse(toSafeJson({ hidden }))).toEqual({ hidden });
    expect(toSafeJson({ hidden })).not.toContain("\u{e0041}");
    expect(escapeText("👩‍👩‍👧 می‌خواهم")).toBe("👩‍👩‍👧 می‌خواهم");
  });
});
