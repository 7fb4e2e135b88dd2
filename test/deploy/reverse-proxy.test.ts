import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { request as openRequest } from "node:https";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished } from "vitest";
import { testFolder } from "../support/folder.ts";
import { startGateway } from "../support/gateway.ts";
import { proofTest } from "../support/proof.ts";
import { startUpstream, type Upstream } from "../support/upstream.ts";

const HOST = "longhaul.example";
const TOKEN = "0123456789abcdef".repeat(4);
const EVENTS = [
  '{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}',
  '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
  '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}',
  '{"type":"content_block_stop","index":0}',
  '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}',
  '{"type":"message_stop"}',
].map((data) => `event: ${JSON.parse(data).type}\ndata: ${data}\n\n`);

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

/** A provider that sends the second half of a stream when it is told to. */
async function startHalvingUpstream(): Promise<{ upstream: Upstream; release: () => void }> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const upstream = await startUpstream((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(EVENTS.slice(0, 3).join(""));
    void released.then(() => response.end(EVENTS.slice(3).join("")));
  });
  return { upstream, release };
}

interface Reply {
  readonly status: number;
  readonly text: string;
}

/** Sends a request through the proxy by TLS. */
function send(
  port: number,
  options: { path: string; host?: string; method?: string; body?: string; headers?: Record<string, string> },
  onText?: (text: string) => void,
): Promise<Reply> {
  const { path, host = HOST, method = "POST", body, headers } = options;
  return new Promise((resolve, reject) => {
    const request = openRequest(
      {
        host: "127.0.0.1",
        port,
        path,
        method,
        servername: HOST,
        rejectUnauthorized: false,
        agent: false,
        headers: { host, "content-type": "application/json", ...headers },
      },
      (response) => {
        let text = "";
        response.on("data", (bytes) => {
          text += bytes;
          onText?.(text);
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
        response.on("error", reject);
      },
    );
    request.on("error", reject);
    request.end(body);
  });
}

/** Starts a program until the end of the test; if it does not start, the error quotes its output. */
async function launch(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  port: number,
): Promise<void> {
  const child: ChildProcess = spawn(program, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (text) => (output += text));
  onTestFinished(async () => {
    if (child.exitCode !== null) return;
    child.kill("SIGTERM");
    await once(child, "exit");
  });
  for (let round = 0; round < 300; round++) {
    if (child.exitCode !== null) throw new Error(`${program} did not start: ${output}`);
    const isUp = await send(port, { path: "/healthz", method: "GET" }).then(
      ({ status }) => status === 200,
      () => false,
    );
    if (isUp) return;
    await sleep(100);
  }
  throw new Error(`${program} does not answer: ${output}`);
}

/** Starts nginx with our example, moved to free ports. */
async function startNginx(folder: string, gatewayPort: number): Promise<number> {
  const port = await findFreePort();
  const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  execFileSync(
    "openssl",
    [
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-days",
      "2",
    ].concat(["-keyout", key, "-out", certificate, "-subj", `/CN=${HOST}`]),
    { stdio: "ignore" },
  );
  const example = readFileSync("deploy/nginx/longhaul.conf", "utf8")
    .replace("listen 443 ssl", `listen 127.0.0.1:${port} ssl`)
    .replace("/etc/ssl/longhaul/fullchain.pem", certificate)
    .replace("/etc/ssl/longhaul/privkey.pem", key)
    .replace("server 127.0.0.1:4747;", `server 127.0.0.1:${gatewayPort};`)
    .replace("server 127.0.0.1:4748;", "");
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; pid ${join(folder, "pid")}; error_log stderr; events {} http { access_log off; ${paths.join(" ")}\n${example}\n}`,
  );
  await launch("nginx", ["-p", folder, "-c", join(folder, "nginx.conf")], {}, port);
  return port;
}

/** Starts Caddy with our example; its own authority signs the certificate. */
async function startCaddy(folder: string, gatewayPort: number): Promise<number> {
  const port = await findFreePort();
  const example = readFileSync("deploy/caddy/Caddyfile", "utf8").replace(
    "{$PUBLIC_HOST:longhaul.example} {",
    "{$PUBLIC_HOST:longhaul.example} {\n\ttls internal",
  );
  const globals = `{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n\tstorage file_system ${folder}\n}\n`;
  writeFileSync(join(folder, "Caddyfile"), globals + example);
  const env = {
    HOME: folder,
    PUBLIC_HOST: `https://${HOST}:${port}`,
    GATEWAY_NAME: "127.0.0.1",
    GATEWAY_PORT: String(gatewayPort),
  };
  await launch("caddy", ["run", "--config", join(folder, "Caddyfile"), "--adapter", "caddyfile"], env, port);
  return port;
}

const PROXIES = [
  ["nginx", ["-v"], startNginx],
  ["caddy", ["version"], startCaddy],
] as const;

for (const [name, args, start] of PROXIES) {
  const isMissing = spawnSync(name, args, { stdio: "ignore" }).status !== 0;
  describe.skipIf(isMissing)(
    `behind ${name}${isMissing ? ": skipped, because it is not installed" : ""}`,
    () => {
      proofTest(
        "events pass the proxy at once, large bodies arrive, and hosts and clients stay distinguishable",
        async () => {
          const { upstream, release } = await startHalvingUpstream();
          const gateway = await startGateway({
            upstream: upstream.url,
            config: { allowedHosts: [HOST] },
            // Without a token, a gateway serves only the user who runs it, and the proxy may run as another.
            env: { LONGHAUL_TOKEN: TOKEN },
          });
          const folder = testFolder();
          chmodSync(folder, 0o755);
          const port = await start(folder, gateway.port);
          const question = (text: string) =>
            JSON.stringify({
              model: "claude-sonnet-4-5",
              max_tokens: 100,
              stream: true,
              messages: [{ role: "user", content: text }],
            });
          const headers = {
            "x-longhaul-token": TOKEN,
            "x-api-key": "sk-test",
            "anthropic-version": "2023-06-01",
          };
          const large = "large ".repeat(4_000_000);
          let seen = "";
          const reply = await send(port, { path: "/v1/messages", body: question(large), headers }, (text) => {
            seen ||= text;
            // Only after the first events have come through: a proxy that buffers would wait for ever.
            if (text.includes("Hello")) release();
          });
          expect(reply.status, reply.text).toBe(200);
          expect(seen).not.toContain("message_stop");
          expect(reply.text).toContain("message_stop");
          expect(upstream.heard[0]?.json.messages[0].content.length ?? 0).toBeGreaterThan(20_000_000);
          // A page whose host name was rebound to the gateway sends a host that the gateway does not know.
          const foreign = { path: "/api/v1/sessions", method: "GET", headers, host: "attacker.example" };
          // Caddy answers with nothing, nginx passes it on and the gateway refuses.
          const refused = await send(port, foreign).catch(() => ({ status: 403, text: "" }));
          expect(refused.status === 403 || refused.text === "", refused.text).toBe(true);
          // Behind a proxy nobody is on this computer, whatever the client says.
          const agents = {
            path: "/api/v1/agents",
            method: "GET",
            headers: { ...headers, "x-forwarded-for": "127.0.0.1" },
          };
          expect((await send(port, agents)).status).not.toBe(200);
          expect((await send(port, { path: "/metrics", method: "GET" })).status).toBe(404);
        },
      );
    },
  );
}
