import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { expect, onTestFinished } from "vitest";
import { claudeCode } from "../../../clients/agents/claude-code.ts";
import { findInstalled } from "../../../clients/install.ts";
import { claudeCodeConnector } from "../../../src/cli/connecting/agents/connectors.ts";
import { testFolder } from "../../support/folder.ts";
import { proofTest } from "../../support/proof.ts";
import { anthropic } from "../../support/wire-server/anthropic.ts";
import { perform } from "../../support/wire-server/perform.ts";
import { runHere } from "../support/here.ts";
import { homeWith } from "./home.ts";
import { runClient } from "./real-clients.ts";

/** The host whose name Claude Code compares. */
const HOST = "api.anthropic.com";
const SETTINGS = ".claude/settings.json";

interface SentRequest {
  readonly betas: readonly string[];
  readonly headerNames: readonly string[];
  readonly body: Readonly<Record<string, unknown>>;
}

/** Anthropic on loopback: as itself behind a proxy that ends TLS, and as the address of a gateway. */
async function startAnthropic() {
  const folder = testFolder();
  mkdirSync(folder, { recursive: true });
  const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  const subject = ["-subj", `/CN=${HOST}`, "-addext", `subjectAltName=DNS:${HOST}`];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  execFileSync("openssl", ["req", "-x509", ...curve, "-keyout", key, "-out", certificate, ...subject], {
    stdio: "ignore",
  });
  const requests: SentRequest[] = [];
  const take = async (incoming: IncomingMessage, response: ServerResponse) => {
    const bytes = await buffer(incoming);
    const path = new URL(incoming.url ?? "/", "http://any").pathname;
    if (path === "/api/v1/gateway")
      return response.end(
        JSON.stringify({ upstreams: [{ baseUrl: `https://${HOST}`, apis: ["anthropic"] }] }),
      );
    if (!anthropic.matches(path)) return response.writeHead(404).end("{}");
    const body = JSON.parse(bytes.toString()) as SentRequest["body"];
    const betas = String(incoming.headers["anthropic-beta"] ?? "").split(",");
    requests.push({ betas, headerNames: Object.keys(incoming.headers).sort(), body });
    return perform({ type: "reply", reply: { text: "Hello." } }, anthropic, { path, body }, response);
  };
  const tls = createHttpsServer({ key: readFileSync(key), cert: readFileSync(certificate) }, take);
  const plain = createHttpServer(take);
  plain.on("connect", ({ url }, client: Socket) => {
    if (url !== `${HOST}:443`) return client.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    const server = connect((tls.address() as AddressInfo).port, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      client.pipe(server).pipe(client);
    });
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const)
      one.on("error", () => other.destroy());
    return client;
  });
  for (const server of [tls, plain]) {
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
  }
  return { url: `http://127.0.0.1:${(plain.address() as AddressInfo).port}`, certificate, requests };
}

/** An MCP server with sixty tools. */
const MANY_TOOLS = `
import { createInterface } from "node:readline";
const say = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
const tools = Array.from({ length: 60 }, (_, number) => ({
  name: "tool_" + number,
  description: "Tool number " + number + " of sixty. ".repeat(20),
  inputSchema: { type: "object", properties: { value: { type: "string" } } },
}));
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize")
    say(id, {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "many", version: "1" },
    });
  else if (method === "tools/list") say(id, { tools });
  else if (id !== undefined) say(id, {});
});
`;

/** The parts of a request that must not depend on the address; random values and folders are replaced. */
function comparable({ betas, headerNames, body }: SentRequest, home: string) {
  const { messages, system, tools, metadata: _, ...fields } = body;
  const text = JSON.stringify({ messages, system, tools, fields })
    .replaceAll(JSON.stringify(home).slice(1, -1), "<home>")
    .replaceAll(/cc_prompt_id=[0-9a-f-]+|cch=[0-9a-f]+/g, "<random>");
  return { betas, headerNames: headerNames.filter((name) => name !== "host"), ...JSON.parse(text) };
}

const MODEL = "claude-opus-4-8";

proofTest.for([
  { scenario: "at its start", args: ["--model", MODEL], hasTools: false },
  { scenario: "with sixty MCP tools", args: ["--model", MODEL], hasTools: true },
  { scenario: "with a window of a million tokens", args: ["--model", `${MODEL}[1m]`], hasTools: false },
])(
  "A connected Claude Code $scenario sends all that a direct one sends, or the doctor lists the difference",
  async ({ args, hasTools }, { skip }) => {
    const installed = findInstalled(claudeCode);
    if (installed === undefined) return skip("it is not installed; npm run clients installs it");
    const server = await startAnthropic();
    const home = homeWith({ [SETTINGS]: '{\n  "includeCoAuthoredBy": false\n}\n' });
    const cwd = testFolder();
    mkdirSync(cwd, { recursive: true });
    const options = [...args];
    if (hasTools) {
      writeFileSync(join(home, "many.mjs"), MANY_TOOLS);
      const many = { command: process.execPath, args: [join(home, "many.mjs")] };
      writeFileSync(join(home, "mcp.json"), JSON.stringify({ mcpServers: { many } }));
      options.push("--mcp-config", join(home, "mcp.json"));
    }
    const ask = async (env: Readonly<Record<string, string>>) => {
      const pointed = { url: "", api: "anthropic", installed, home, project: cwd } as const;
      const command = claudeCode.command(pointed, "Say hello.", true);
      if (!command) throw new Error("Claude Code has no program for this platform.");
      const { ANTHROPIC_BASE_URL: _, ...own } = command.env ?? {};
      const before = server.requests.length;
      const ended = await runClient(
        { ...command, args: [...command.args, ...options], env: { ...own, ...env } },
        home,
        { cwd },
      );
      expect(ended.exitCode, `${ended.stdout}\n${ended.stderr}`).toBe(0);
      const first = server.requests[before];
      if (!first) throw new Error("No request arrived.");
      return comparable(first, home);
    };
    const direct = await ask({
      HTTPS_PROXY: server.url,
      https_proxy: server.url,
      NODE_EXTRA_CA_CERTS: server.certificate,
    });
    const bytes = readFileSync(join(home, SETTINGS));
    const connected = await runHere(["connect", "claude-code", "--yes", "--url", server.url], { home });
    expect(connected.code).toBe(0);
    const through = await ask({});
    const written = readFileSync(join(home, SETTINGS), "utf8");
    const listed = claudeCodeConnector.listFeatureChanges?.(written).map(({ feature }) => feature) ?? [];
    const isListed = (beta: string) => listed.some((feature) => feature.includes(beta.replace(/-\d.*/, "")));
    expect(through.betas).toEqual(direct.betas.filter((beta: string) => !isListed(beta)));
    expect(through.headerNames).toEqual(direct.headerNames);
    expect(through.fields).toEqual(direct.fields);
    expect(through.tools).toEqual(direct.tools);
    expect(through.system).toEqual(direct.system);
    expect(through.messages).toEqual(direct.messages);
    expect((await runHere(["disconnect", "claude-code"], { home })).code).toBe(0);
    expect(readFileSync(join(home, SETTINGS)).equals(bytes)).toBe(true);
  },
);
