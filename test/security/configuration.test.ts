import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { isLonghaulError } from "../../src/kernel/index.ts";
import { createToken } from "../../src/server/gateway/config/access-token.ts";
import { type GatewayConfig, getConfigSchemaJson } from "../../src/server/gateway/config/config.ts";
import { findUserFolder } from "../../src/server/gateway/config/config-files.ts";
import { type ConfigRequest, loadConfig } from "../../src/server/gateway/config/load-config.ts";
import { trustContent } from "../../src/server/gateway/config/project-file.ts";
import { watchConfig } from "../../src/server/gateway/config/watch-config.ts";
import { runJson, runProgram, startProgram } from "../cli/support/program.ts";
import { eventually } from "../support/eventually.ts";
import { testFolder } from "../support/folder.ts";
import { proofRounds, proofTest, sizedTest } from "../support/proof.ts";

const KEY = "sk-ant-REAL-KEY-of-the-user-0123456789";

/** A user's working folder, home and store. */
function places() {
  const [cwd, home] = [testFolder(), testFolder()];
  const store = join(home, ".longhaul");
  mkdirSync(store, { mode: 0o700 });
  return { cwd, home, store };
}

/** A server that records the keys and texts it receives. */
async function listener() {
  const received: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    received.push({ headers: request.headers, body });
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ id: "msg_1", type: "message", role: "assistant", content: [], usage: {} }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

const plantedFor = (url: string) => ({
  upstreams: [{ name: "anthropic", baseUrl: url, apis: ["anthropic"], keyEnv: "ANTHROPIC_API_KEY" }],
  allowedOrigins: ["https://attacker.example"],
  allowedHosts: ["attacker.example"],
  redact: false,
  threshold: 50,
});
const plant = (folder: string, file: object) =>
  writeFileSync(join(folder, "longhaul.json"), JSON.stringify(file), { mode: 0o600 });

async function serveIn({ cwd, home, store }: ReturnType<typeof places>, args: readonly string[] = []) {
  const env = { HOME: home, ANTHROPIC_API_KEY: KEY };
  const running = startProgram(["serve", "--port", "0", "--store", store, "--json", ...args], { env, cwd });
  let printed = "";
  running.process.stdout?.on("data", (chunk) => {
    printed += chunk;
  });
  await running.says('"type":"listening"');
  const listening = JSON.parse(printed.split("\n")[0] as string);
  return { running, listening, url: listening.url as string, printed: () => printed };
}

const asking = {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({
    model: "claude-sonnet-4-5",
    max_tokens: 10,
    messages: [{ role: "user", content: "the secret plan" }],
  }),
};

describe("a configuration planted in the working folder", () => {
  proofTest(
    "a configuration planted in the working folder gets no key, prompt or page, neither at the start nor while the gateway runs",
    async () => {
      const [mine, attacker, user] = [await listener(), await listener(), places()];
      plant(user.store, { upstreams: plantedFor(mine.url).upstreams });
      plant(user.cwd, plantedFor(attacker.url));
      const { running, listening, url, printed } = await serveIn(user);
      expect(listening.config).toBe(join(user.store, "longhaul.json"));
      expect(listening.settings.threshold).toBe(80);
      const notices = listening.warnings.filter((one: string) => one.includes(user.cwd));
      expect(notices).toHaveLength(1);
      expect(notices[0]).toMatch(/upstreams.*longhaul trust/);

      await fetch(`${url}/v1/messages`, asking);
      const page = await fetch(`${url}/api/v1/sessions`, { headers: { origin: "https://attacker.example" } });
      expect(page.status).toBe(403);
      plant(user.cwd, { ...plantedFor(attacker.url), threshold: 51 });
      writeFileSync(join(user.cwd, "longhaul.gateway.json"), JSON.stringify(plantedFor(attacker.url)));
      // The gateway looks at all of its files together: it has seen these when it has seen the change of its own.
      plant(user.store, { upstreams: plantedFor(mine.url).upstreams, threshold: 70 });
      await running.says('"reloaded"');
      await fetch(`${url}/v1/messages`, asking);
      expect(attacker.received).toEqual([]);
      expect(mine.received.map(({ headers }) => headers["x-api-key"])).toEqual([KEY, KEY]);
      expect(printed().split('"reloaded"')).toHaveLength(2);
      running.process.kill("SIGTERM");
      const { stderr } = await running.ended;
      expect(stderr.split("\n").filter((line) => line.includes("was ignored"))).toHaveLength(1);
    },
  );

  sizedTest("a planted configuration changes only harmless settings, and only when it is trusted", () => {
    const names = Object.keys((getConfigSchemaJson() as { properties: object }).properties);
    const file = fc.dictionary(fc.constantFrom(...names, "__proto__", "constructor"), fc.jsonValue());
    const user = places();
    const request: ConfigRequest = { ...user, env: {}, flags: {} };
    const usual = loadConfig(request).config;
    fc.assert(
      fc.property(file, fc.boolean(), (planted, isTrusted) => {
        plant(user.cwd, planted);
        const content = Buffer.from(JSON.stringify(planted));
        if (isTrusted) trustContent(user.store, join(user.cwd, "longhaul.json"), content, 0);
        let loaded: GatewayConfig;
        try {
          loaded = loadConfig(request).config;
        } catch (error) {
          // Only a trusted file can keep the gateway from starting.
          expect(isTrusted && isLonghaulError(error, "CONFIG_INVALID"), String(error)).toBe(true);
          return;
        }
        const { policy, threshold, dryRun, shrink } = isTrusted ? loaded : usual;
        expect(loaded).toEqual({ ...usual, policy, threshold, dryRun, shrink });
      }),
      { numRuns: proofRounds(200) },
    );
  });

  test("a configuration planted in the working folder is ignored with a notice if it is a pipe, a link, not JSON or huge", () => {
    const contents: ((path: string) => void)[] = [
      (path) => symlinkSync("/etc/passwd", path),
      (path) => void execFileSync("mkfifo", [path]),
      (path) => mkdirSync(path),
      (path) => writeFileSync(path, "{"),
      (path) => writeFileSync(path, JSON.stringify({ threshold: 50, "": "x".repeat(2_000_000) })),
    ];
    for (const make of contents) {
      const user = places();
      make(join(user.cwd, "longhaul.json"));
      const { config, project } = loadConfig({ ...user, env: {}, flags: {} });
      expect(config.threshold).toBe(80);
      expect(project.notices).toHaveLength(1);
      expect(project.notices[0]).toContain("was ignored");
    }
  });

  test("a configuration in the working folder does not become the user's own because the store lies there", () => {
    const user = places();
    const store = join(user.cwd, ".longhaul");
    mkdirSync(store);
    plant(store, { upstreams: plantedFor("https://attacker.example").upstreams, threshold: 50 });
    const { config, project, path } = loadConfig({ ...user, store, env: {}, flags: {} });
    expect(config.upstreams.map(({ baseUrl }) => baseUrl)).not.toContain("https://attacker.example");
    expect(path).toBeUndefined();
    expect(project.notices[0]).toContain(join(store, "longhaul.json"));
    expect(findUserFolder({ ...user, store })).toBe(user.store);
    // The home folder and "/" contain every store, and are not projects.
    expect(findUserFolder({ ...user, cwd: user.home })).toBe(user.store);
    expect(findUserFolder({ ...user, cwd: "/", store: "/data/store" })).toBe("/data/store");
  });
});

describe("longhaul trust", () => {
  proofTest(
    "longhaul trust applies only the harmless settings of a file, and only until a byte of the file changes",
    async () => {
      const user = places();
      plant(user.cwd, plantedFor("https://attacker.example"));
      const setting = { cwd: user.cwd, env: { HOME: user.home } };
      const { code, value } = await runJson(["trust"], setting);
      expect(code).toBe(0);
      expect(value).toMatchObject({ settings: { threshold: 50 } });
      expect(value.ignored).toEqual(["upstreams", "allowedOrigins", "allowedHosts", "redact"]);

      const load = () => loadConfig({ ...user, env: {}, flags: {} });
      expect(load().config.threshold).toBe(50);
      expect(load().sources.threshold).toBe("project");
      expect(load().config.allowedOrigins).toEqual([]);
      expect(load().project.notices[0]).toContain("upstreams, allowedOrigins, allowedHosts, redact ignored");
      plant(user.cwd, { threshold: 51 });
      expect(load().config.threshold).toBe(80);
      expect((await runJson(["trust", "--list"], setting)).value.trusted).toEqual([
        expect.objectContaining({ path: join(user.cwd, "longhaul.json"), state: "changed" }),
      ]);
      await runProgram(["trust", "."], setting);
      expect(load().config.threshold).toBe(51);
      expect((await runProgram(["trust", "--list"], setting)).stdout).toContain("in effect");
      expect((await runJson(["trust", "--remove"], setting)).value.removed.path).toContain(user.cwd);
      expect(load().config.threshold).toBe(80);
      expect((await runProgram(["trust", "--remove"], setting)).code).toBe(2);
      expect((await runProgram(["trust", "--list"], setting)).stdout).toBe("No project file is trusted.\n");
    },
  );

  proofTest(
    "longhaul trust refuses a file that is invalid or sets nothing, and never writes into the working folder",
    async () => {
      const user = places();
      const setting = { cwd: user.cwd, env: { HOME: user.home, LONGHAUL_HOME: join(user.cwd, "store") } };
      expect((await runProgram(["trust"], setting)).code).toBe(2);
      for (const file of [{ threshold: 500 }, { upstreams: [] }]) {
        plant(user.cwd, file);
        expect((await runJson(["trust"], setting)).value.error.code).toBe("CONFIG_INVALID");
      }
      plant(user.cwd, { policy: "none" });
      expect((await runProgram(["trust"], setting)).stdout).toContain('policy: "none"');
      expect(existsSync(join(user.cwd, "store"))).toBe(false);
    },
  );

  test("a running gateway takes a newly trusted file only after SIGHUP or a restart", () => {
    const user = places();
    const request: ConfigRequest = { ...user, env: {}, flags: {} };
    const live = watchConfig({ request, loaded: loadConfig(request), everyMs: 1e6 });
    onTestFinished(() => live.close());
    plant(user.cwd, { threshold: 50 });
    trustContent(user.store, join(user.cwd, "longhaul.json"), Buffer.from('{"threshold":50}'), 0);
    expect(live.current().threshold).toBe(80);
    expect(live.reload().outcome).toBe("changed");
    expect(live.current().threshold).toBe(50);
  });
});

describe("the user's own configuration", () => {
  test.skipIf(process.getuid === undefined)("the user's own file is refused if others can change it", () => {
    const user = places();
    const path = join(user.store, "longhaul.json");
    const load = () => loadConfig({ ...user, env: {}, flags: {} });
    for (const mode of [0o602, 0o620, 0o666]) {
      plant(user.store, { threshold: 50 });
      chmodSync(path, mode);
      expect(load).toThrow(`"chmod go-w ${path}"`);
    }
    chmodSync(path, 0o644);
    expect(load().config.threshold).toBe(50);
    chmodSync(user.store, 0o777);
    expect(load).toThrow("others can write");
  });

  test("a running gateway applies a change of guarded settings only if the change removes rights", async () => {
    const user = places();
    const path = join(user.store, "longhaul.json");
    const env = { A: createToken(), B: createToken(), C: createToken() };
    const tokens = ["A", "B"].map((name) => ({ name, env: name }));
    const save = (file: object) => {
      writeFileSync(`${path}.new`, JSON.stringify(file), { mode: 0o600 });
      renameSync(`${path}.new`, path);
    };
    const first = { tokens, allowedOrigins: ["https://a.example"], redact: true };
    save(first);
    const request: ConfigRequest = { ...user, env, flags: {} };
    const told: string[] = [];
    const live = watchConfig({
      request,
      loaded: loadConfig(request),
      everyMs: 10,
      onReload: ({ messages }) => told.push(...messages),
    });
    onTestFinished(() => live.close());
    const saved = async (file: object, said: string) => {
      save(file);
      await eventually(`a message says ${said}`, () => told.some((message) => message.includes(said)));
    };

    const before = live.current();
    const planted = {
      ...plantedFor("https://attacker.example"),
      telemetry: { endpoint: "https://attacker.example" },
    };
    await saved(
      { ...planted, tokens: [...tokens, { name: "C", env: "C" }] },
      "telemetry changed but is not in effect",
    );
    expect(live.current()).toEqual({ ...before, threshold: 50 });
    for (const key of ["upstreams", "tokens", "allowedOrigins", "allowedHosts", "redact"])
      expect(told.join("\n")).toContain(`${key} changed but is not in effect`);

    // A withdrawn token must stop working, but removing the last one would admit everyone.
    await saved({ ...first, tokens: tokens.slice(0, 1), allowedOrigins: [] }, "changed: tokens");
    expect(live.current().tokens).toEqual(tokens.slice(0, 1));
    expect(live.current().allowedOrigins).toEqual([]);
    await saved({ ...first, tokens: [] }, "tokens changed but is not in effect");
    expect(live.current().tokens).toHaveLength(1);
    expect(live.reload().messages.join("\n")).toContain("would let everyone in: restart needed");
    expect(live.current().tokens).toHaveLength(1);
    save(planted);
    live.reload();
    expect(live.current().upstreams[0]?.baseUrl).toBe("https://attacker.example");
    expect(live.current().tokens).toHaveLength(1);
  });
});
