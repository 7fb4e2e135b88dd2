import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import { eventually } from "../support/eventually.ts";
import { testFolder } from "../support/folder.ts";
import { proofCases, proofTest, sizedTest } from "../support/proof.ts";
import { writeConversation } from "./support/conversation.ts";
import { MAIN, type Running, runJson, runProgram, start, startProgram } from "./support/program.ts";

interface Serving {
  readonly running: Running;
  readonly url: string;
  readonly store: string;
  readonly cwd: string;
  /** All lines printed so far, parsed as JSON. */
  readonly lines: () => readonly ReturnType<typeof JSON.parse>[];
}

/** Starts a gateway on a free port and waits until it listens. */
async function serve(
  args: readonly string[] = [],
  { env = {}, file }: { readonly env?: Readonly<Record<string, string>>; readonly file?: object } = {},
): Promise<Serving> {
  const [store, cwd] = [testFolder(), testFolder()];
  if (file) writeFileSync(join(store, "longhaul.json"), JSON.stringify(file), { mode: 0o600 });
  const running = startProgram(["serve", "--port", "0", "--store", store, "--json", ...args], { env, cwd });
  let printed = "";
  running.process.stdout?.on("data", (chunk) => {
    printed += chunk;
  });
  await running.says('"type":"listening"');
  const lines = () =>
    printed
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  return { running, url: lines()[0].url, store, cwd, lines };
}

async function end({ running }: Serving, signal: NodeJS.Signals = "SIGTERM") {
  running.process.kill(signal);
  return running.ended;
}

/** A provider that gives the same reply to every request when `ready` has resolved. */
async function provider(ready?: Promise<void>): Promise<{ readonly url: string; readonly bodies: string[] }> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", async () => {
      bodies.push(body);
      await ready;
      const content = [{ type: "text", text: "Seven thousand." }];
      const usage = { input_tokens: 10, output_tokens: 3 };
      const message = {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "claude-sonnet-4-5",
        content,
      };
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ ...message, stop_reason: "end_turn", stop_sequence: null, usage }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies };
}

const ASKED = JSON.stringify({
  model: "claude-sonnet-4-5",
  max_tokens: 100,
  messages: [{ role: "user", content: "How many islands does the archipelago have?" }],
});
const asking = (headers: Readonly<Record<string, string>> = {}) => ({
  method: "POST",
  headers: { "content-type": "application/json", "x-api-key": "sk-test", ...headers },
  body: ASKED,
});

describe("longhaul serve", () => {
  test("longhaul serve prints ten lines with the address, the store and the upstreams, and ends on a signal", async () => {
    const store = testFolder();
    const running = startProgram(["serve", "--port", "0", "--store", store], { cwd: testFolder() });
    await running.says("Press Ctrl-C to stop.");
    running.process.kill("SIGINT");
    const { code, stdout, stderr } = await running.ended;
    const [, url = ""] = /listens on (http:\/\/127\.0\.0\.1:\d+)/.exec(stdout) ?? [];
    expect(stdout).toContain(`dashboard    ${url}/`);
    expect(stdout).toContain(`any agent    ANTHROPIC_BASE_URL=${url} OPENAI_BASE_URL=${url}/v1`);
    expect(stdout).toContain("anthropic (api.anthropic.com)");
    expect(stdout.split("\n").findIndex((line) => line.startsWith("Press Ctrl-C"))).toBeLessThan(10);
    expect(stdout).toMatch(/Stopping: .*\nStopped\.\n$/);
    expect(stderr).toBe("");
    expect(code).toBe(130);
  });

  test.runIf(process.platform === "linux")(
    "longhaul serve imports new conversations of local agents, and its import process ends with it, even if it is killed",
    async () => {
      const home = testFolder();
      writeConversation(home, 1, 2);
      const serving = await serve(["--keep-histories"], { env: { HOME: home } });
      const stored = async () =>
        (await runJson(["sessions", "--store", serving.store])).value.sessions.length;
      await eventually("a session is stored", async () => (await stored()) > 0);
      const isThere = (pid: number) => {
        try {
          return process.kill(pid, 0);
        } catch {
          return false;
        }
      };
      const { pid = 0 } = serving.running.process;
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
        .trim()
        .split(" ")
        .map(Number);
      const kept = children.find((child) =>
        readFileSync(`/proc/${child}/cmdline`, "utf8").includes("--watch"),
      );
      await end(serving, "SIGKILL");
      await eventually("the watching child is gone", () => kept === undefined || !isThere(kept));
      expect(kept).toBeGreaterThan(0);
    },
  );

  test("longhaul serve serves its pages without any key", async () => {
    const serving = await serve();
    expect((await fetch(`${serving.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${serving.url}/readyz`)).status).toBe(200);
    expect(await (await fetch(serving.url)).text()).toContain("<title>longhaul</title>");
    expect(await (await fetch(`${serving.url}/api/v1/gateway`)).json()).toMatchObject({
      url: serving.url,
      isOpen: true,
    });
    expect((await end(serving)).code).toBe(143);
    expect(serving.lines().map(({ type }) => type)).toEqual(["listening", "stopping", "stopped"]);
  });

  test("longhaul serve forwards requests to the given upstream, and stores the conversation", async () => {
    const { url, bodies } = await provider();
    const serving = await serve(["--upstream", `anthropic=${url}`]);
    const response = await fetch(`${serving.url}/v1/messages`, asking());
    expect(await response.json()).toMatchObject({ content: [{ text: "Seven thousand." }] });
    expect(bodies).toEqual([ASKED]);
    await end(serving);
    await using kernel = await openKernel({ path: serving.store });
    const [session] = await kernel.sessions();
    const { entries } = await (await kernel.session(session?.id)).page({ kinds: ["message"] });
    expect(JSON.stringify(entries)).toContain("archipelago");
    expect(JSON.stringify(entries)).toContain("Seven thousand.");
  });

  proofTest("longhaul serve finishes a running request before it stops", async () => {
    const ready = Promise.withResolvers<void>();
    const { url, bodies } = await provider(ready.promise);
    const serving = await serve(["--upstream", url]);
    const asked = fetch(`${serving.url}/v1/messages`, asking());
    await expect.poll(() => bodies).toHaveLength(1);
    const ended = end(serving);
    await serving.running.says('"type":"stopping"');
    ready.resolve();
    expect((await asked).status).toBe(200);
    expect((await ended).code).toBe(143);
  });

  proofTest("longhaul serve ends at once on a second signal", async () => {
    const { url, bodies } = await provider(new Promise(() => {}));
    const serving = await serve(["--upstream", url]);
    const asked = fetch(`${serving.url}/v1/messages`, asking()).catch(() => "cut");
    await expect.poll(() => bodies).toHaveLength(1);
    serving.running.process.kill("SIGINT");
    await serving.running.says('"type":"stopping"');
    expect((await end(serving, "SIGINT")).code).toBe(130);
    expect(await asked).toBe("cut");
  });

  test("longhaul serve says which port is taken and how to choose another one", async () => {
    const serving = await serve();
    const { port } = new URL(serving.url);
    const { code, value } = await runJson(["serve", "--port", port, "--store", testFolder()], {
      cwd: testFolder(),
    });
    expect(code).toBe(1);
    const { pid } = serving.running.process;
    const isKnown = process.platform === "linux";
    const details = { host: "127.0.0.1", port: Number(port), ...(isKnown && { pid }) };
    expect(value.error).toMatchObject({ code: "PORT_TAKEN", details });
    const owner = isKnown ? ` by a longhaul gateway (process ${pid})` : "";
    expect(value.error.message).toContain(`Port ${port} on 127.0.0.1 is taken${owner}`);
    expect(value.error.message).toContain("--port 0");
    await end(serving);
  });

  sizedTest.skipIf(process.platform === "win32").each(proofCases(["SIGTERM", "SIGHUP", "SIGKILL"]))(
    "longhaul serve ends when its npm gets %s, which npm passes on to its shell at most",
    async (signal) => {
      const folder = testFolder();
      // The second command keeps the shell from becoming the gateway.
      const command = `"${process.execPath}" "${MAIN}" serve --port 0 --json --store "${folder}"; true`;
      writeFileSync(
        join(folder, "npm"),
        `const shell = require("node:child_process").spawn("sh", ["-c", ${JSON.stringify(command)}], { stdio: "inherit" });
         for (const name of ["SIGTERM", "SIGHUP"]) process.on(name, () => { shell.kill(name); process.exit(1); });`,
      );
      const env = { npm_lifecycle_event: "start" };
      const running = start(process.execPath, [join(folder, "npm")], { cwd: folder, env });
      let printed = "";
      running.process.stdout?.on("data", (chunk) => {
        printed += chunk;
      });
      await running.says('"type":"listening"');
      const { url } = JSON.parse(printed.split("\n", 1)[0] ?? "");
      running.process.kill(signal);
      await expect.poll(() => fetch(url).catch(() => "gone")).toBe("gone");
    },
  );

  test("longhaul serve refuses to listen on another host without a token, and creates no store", async () => {
    const store = join(testFolder(), "store");
    const { code, stderr } = await runProgram(["serve", "--host", "0.0.0.0", "--store", store], {
      cwd: testFolder(),
    });
    expect(code).toBe(1);
    expect(stderr).toContain("there is no token; set LONGHAUL_TOKEN");
    expect(() => readFileSync(store)).toThrow("ENOENT");
  });

  proofTest(
    "longhaul serve --new-token prints a token that the gateway accepts, and requests without a token are refused",
    async () => {
      const { stdout } = await runProgram(["serve", "--new-token", "--quiet"]);
      const token = stdout.trim();
      const serving = await serve([], { env: { LONGHAUL_TOKEN: token } });
      const status = (headers: Readonly<Record<string, string>>) =>
        fetch(`${serving.url}/api/v1/health`, { headers });
      expect((await status({})).status).toBe(401);
      expect((await status({ authorization: `Bearer ${token}x` })).status).toBe(401);
      expect((await status({ authorization: `Bearer ${token}` })).status).toBe(200);
      expect((await status({ "x-longhaul-token": token })).status).toBe(200);
      expect((await fetch(`${serving.url}/healthz`)).status).toBe(200);
      expect((await fetch(serving.url)).status).toBe(200);
      const [listening] = serving.lines();
      expect(JSON.stringify(listening)).not.toContain(token);
      const claude = listening.agents.find(
        ({ agent }: { readonly agent: string }) => agent === "Claude Code",
      );
      expect(claude.lines).toContain("x-longhaul-token: $LONGHAUL_TOKEN");
      const { stdout: printed, stderr } = await end(serving);
      expect(`${printed}${stderr}`).not.toContain(token);
    },
  );

  proofTest("longhaul serve lists the agents of this computer first", async () => {
    const home = testFolder();
    mkdirSync(join(home, ".pi", "agent"), { recursive: true });
    const serving = await serve([], { env: { HOME: home, PATH: "/usr/bin" } });
    const [{ agents }] = serving.lines();
    expect(agents[0]).toMatchObject({ agent: "pi", isFound: true });
    expect(agents[1]).toMatchObject({ agent: "Claude Code", isFound: false });
    await end(serving);
  });

  proofTest(
    "longhaul serve lists only the agents of this computer, with the settings that connect writes, and an address that works",
    async () => {
      const home = testFolder();
      mkdirSync(join(home, ".codex"), { recursive: true });
      const running = startProgram(["serve", "--port", "0", "--host", "0.0.0.0", "--store", testFolder()], {
        cwd: testFolder(),
        env: { HOME: home, PATH: "/usr/bin", LONGHAUL_TOKEN: "a-token-of-many-letters-9182736455" },
      });
      await running.says("Press Ctrl-C to stop.");
      running.process.kill("SIGINT");
      const { stdout } = await running.ended;
      expect(stdout).toMatch(/listens on http:\/\/127\.0\.0\.1:\d+/);
      expect(stdout).not.toContain("0.0.0.0");
      expect(stdout).toMatch(
        /Codex +not connected; "longhaul connect codex" sets \d settings in .*config\.toml/,
      );
      expect(stdout).not.toContain("OpenClaw");
    },
  );

  test("longhaul serve --new-token explains how to use the token", async () => {
    const { code, stdout } = await runProgram(["serve", "--new-token"]);
    const [token = ""] = stdout.split("\n");
    expect(Buffer.from(token, "base64url")).toHaveLength(32);
    expect(stdout).toContain(`export LONGHAUL_TOKEN=${token}`);
    expect(code).toBe(0);
  });

  test("longhaul serve prints the schema of its configuration", async () => {
    const { code, stdout } = await runProgram(["serve", "--schema"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      type: "object",
      properties: { upstreams: { type: "array" } },
    });
  });

  test("longhaul serve names all mistakes of the file and of the command line together", async () => {
    const store = testFolder();
    const file = '{"treshold": 50, "limits": {"idleMs": "long"}}';
    writeFileSync(join(store, "longhaul.json"), file, { mode: 0o600 });
    const { code, stderr } = await runProgram(["serve", "--policy", "nine", "--store", store], {
      cwd: testFolder(),
    });
    expect(code).toBe(1);
    expect(stderr).toContain('there is no setting "treshold"; did you mean threshold?');
    expect(stderr).toContain('limits.idleMs is "long"; expected a whole number');
    expect(stderr).toContain('--policy is "nine"; expected one of longhaul, none');
  });

  proofTest(
    "longhaul serve reloads a changed configuration, at once on SIGHUP, and keeps the old one while the new one is invalid",
    async () => {
      const serving = await serve([], { file: { threshold: 50 } });
      const threshold = async () => {
        const { settings } = (await (await fetch(`${serving.url}/api/v1/gateway`)).json()) as {
          settings: { threshold: number };
        };
        return settings.threshold;
      };
      // Rename atomically, so that no reader sees a partial file.
      const save = (text: string) => {
        const path = join(serving.store, "longhaul.json");
        writeFileSync(`${path}.new`, text, { mode: 0o600 });
        renameSync(`${path}.new`, path);
      };
      expect(await threshold()).toBe(50);
      save('{"threshold": 60}');
      serving.running.process.kill("SIGHUP");
      await serving.running.says('"outcome":"changed"');
      expect(await threshold()).toBe(60);
      save('{"threshold": 600}');
      serving.running.process.kill("SIGHUP");
      await serving.running.says('"outcome":"refused"');
      serving.running.process.kill("SIGHUP");
      expect(await threshold()).toBe(60);
      const { stderr } = await end(serving);
      const logged = stderr
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line));
      expect(logged.filter(({ event }) => event.startsWith("config."))).toEqual([
        expect.objectContaining({
          level: "info",
          event: "config.changed",
          message: expect.stringContaining("threshold"),
        }),
        expect.objectContaining({
          level: "error",
          event: "config.refused",
          key: "threshold",
          message:
            "The configuration is unchanged: threshold is 600; expected a whole number from 5 to 100 (percent).",
        }),
      ]);
    },
  );

  test("npm start runs longhaul serve after the setup", () => {
    const { scripts } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    expect(scripts.prestart).toBe("node scripts/setup.mjs");
    expect(scripts.start).toMatch(/dist\/cli\/main\.js serve$/);
    expect(scripts.demo).toBe("node demo/marathon.ts");
  });
});
