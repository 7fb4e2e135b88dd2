import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { Agent, Command } from "../../../clients/agents/agent.ts";
import { claudeCode } from "../../../clients/agents/claude-code.ts";
import { cline } from "../../../clients/agents/cline.ts";
import { codex } from "../../../clients/agents/codex.ts";
import { continueDev } from "../../../clients/agents/continue.ts";
import { openclaw } from "../../../clients/agents/openclaw.ts";
import { opencode } from "../../../clients/agents/opencode.ts";
import { pi } from "../../../clients/agents/pi.ts";
import { findInstalled } from "../../../clients/install.ts";
import { runProcess } from "../../../clients/run-process.ts";
import { testFolder } from "../../support/folder.ts";
import { proofTest } from "../../support/proof.ts";
import { runHere } from "../support/here.ts";
import { homeWith, snapshotOf } from "./home.ts";

const KEY = "sk-ant-0123456789";
const DEADLINE_MS = 100_000;

/** A client, its own files and its command. */
interface Client {
  readonly agent: Agent;
  readonly files: Readonly<Record<string, string>>;
  readonly command: (installed: string, home: string) => Command | undefined;
  /** Path of the first request, or output, that proves the address. */
  readonly path: RegExp;
}

function commandOf(agent: Agent, change: (command: Command) => Command = (same) => same) {
  return (installed: string, home: string) => {
    const pointed = { url: "http://127.0.0.1:9", api: "anthropic", installed, home, project: home } as const;
    const command = agent.command(pointed, "Say hello.", true);
    return command && change(command);
  };
}

const LOGIN = JSON.stringify({ auth_mode: "apikey", OPENAI_API_KEY: "sk-0123456789" });
const MODEL = "claude-sonnet-4-5";

const CLIENTS: readonly Client[] = [
  {
    agent: claudeCode,
    files: { ".claude/settings.json": '{\n  "includeCoAuthoredBy": false\n}\n' },
    path: /^\/v1\/messages/,
    command: commandOf(claudeCode, (command) => {
      // The address must come from the file.
      const { ANTHROPIC_BASE_URL: _, ...env } = command.env ?? {};
      return { ...command, env: { ...env, ANTHROPIC_API_KEY: KEY } };
    }),
  },
  {
    agent: codex,
    files: {
      ".codex/config.toml": '# mine\nmodel = "gpt-5"\n\n[analytics]\nenabled = false\n',
      ".codex/auth.json": LOGIN,
    },
    path: /^\/v1\/(?:responses|models)/,
    command: commandOf(codex),
  },
  {
    agent: opencode,
    files: {
      ".config/opencode/opencode.jsonc": `{\n  // mine\n  "$schema": "https://opencode.ai/config.json",\n  "model": "anthropic/${MODEL}",\n  "small_model": "anthropic/${MODEL}",\n  "autoupdate": false,\n}\n`,
    },
    path: /^\/v1\/messages/,
    command: commandOf(opencode, (command) => ({
      ...command,
      env: { ...command.env, ANTHROPIC_API_KEY: KEY },
    })),
  },
  {
    agent: pi,
    files: { ".pi/agent/models.json": '{\n  // mine\n  "providers": {}\n}\n' },
    path: /^\/v1\/messages/,
    command: commandOf(pi, ({ args, ...command }) => ({
      ...command,
      args: args.map((arg) => ({ scripted: "anthropic", "scripted-model": MODEL })[arg] ?? arg),
      env: { ...command.env, ANTHROPIC_API_KEY: KEY },
    })),
  },
  {
    agent: cline,
    files: {
      ".cline/data/globalState.json": JSON.stringify({
        actModeApiProvider: "anthropic",
        planModeApiProvider: "anthropic",
        actModeApiModelId: "claude-sonnet-4-5-20250929",
        planModeApiModelId: "claude-sonnet-4-5-20250929",
        welcomeViewCompleted: true,
        telemetrySetting: "disabled",
      }),
      ".cline/data/secrets.json": JSON.stringify({ apiKey: KEY }),
    },
    path: /^\/v1\/messages/,
    command: commandOf(cline),
  },
  {
    agent: continueDev,
    files: {
      ".continue/config.yaml": `name: mine # my own\nversion: 1.0.0\nschema: v1\nmodels:\n  - name: Sonnet\n    provider: anthropic\n    model: ${MODEL}\n    apiKey: ${KEY}\n    roles: [chat]\n`,
    },
    path: /^\/v1\/messages/,
    command: commandOf(continueDev),
  },
  {
    agent: openclaw,
    files: {
      ".openclaw/openclaw.json": `{\n  // mine\n  agents: { defaults: { skipBootstrap: true, model: { primary: 'anthropic/${MODEL}' } } },\n}\n`,
    },
    // Its agent takes minutes to start; this is its own configuration loader, which refuses a wrong file.
    path: /^http:\/\/127\.0\.0\.1:\d+$/m,
    command: commandOf(openclaw, (command) => ({
      ...command,
      args: [...command.args.slice(0, 1), "config", "get", "models.providers.anthropic.baseUrl"],
    })),
  },
];

/** A provider that refuses every request and records its path. */
async function startRefusal() {
  const paths: string[] = [];
  const first = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    // connect itself looks whether a gateway answers.
    if (request.url !== "/healthz") {
      paths.push(request.url ?? "");
      first.resolve();
    }
    response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify({ type: "error", error: { type: "invalid_request_error", message: "No." } }));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths, first: first.promise };
}

proofTest.for(CLIENTS)("$agent.name reads the file that connect wrote", async (client, { skip }) => {
  const installed = findInstalled(client.agent);
  if (installed === undefined) return skip("it is not installed; npm run clients installs it");
  const home = homeWith(client.files);
  const before = snapshotOf(home);
  const server = await startRefusal();
  const connected = await runHere(["connect", client.agent.name, "--yes", "--url", server.url], { home });
  expect(connected.code).toBe(0);
  const command = client.command(installed, home);
  if (!command) return skip("there is no program for this platform");
  const closed = "http://127.0.0.1:9";
  const proxies = { HTTPS_PROXY: closed, https_proxy: closed, NO_PROXY: "127.0.0.1", no_proxy: "127.0.0.1" };
  const baseEnv = {
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    HOME: home,
    TMPDIR: testFolder(),
    XDG_CONFIG_HOME: join(home, ".config"),
    ...proxies,
  };
  const ended = await runProcess(command, {
    cwd: testFolder(),
    baseEnv,
    deadlineMs: DEADLINE_MS,
    endOn: server.first,
  });
  expect(server.paths.join("\n") || `${ended.stdout}\n${ended.stderr}`).toMatch(client.path);
  // Agents leave files of their own; those that connect changed return as they were.
  await runHere(["disconnect", client.agent.name], { home });
  const after = snapshotOf(home);
  for (const path of Object.keys(client.files)) {
    if (existsSync(join(home, path)) && path !== ".cline/data/globalState.json")
      expect(after[path]).toBe(before[path]);
  }
  expect(JSON.stringify(Object.keys(client.files).map((path) => after[path]))).not.toContain(server.url);
});
