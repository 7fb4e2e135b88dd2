import { dirname, join } from "node:path";
import type { Agent, Command } from "../../../clients/agents/agent.ts";
import { claudeCode } from "../../../clients/agents/claude-code.ts";
import { cline } from "../../../clients/agents/cline.ts";
import { codex } from "../../../clients/agents/codex.ts";
import { continueDev } from "../../../clients/agents/continue.ts";
import { openclaw } from "../../../clients/agents/openclaw.ts";
import { opencode } from "../../../clients/agents/opencode.ts";
import { pi } from "../../../clients/agents/pi.ts";
import { type Ended, runProcess } from "../../../clients/run-process.ts";
import { testFolder } from "../../support/folder.ts";

const DEADLINE_MS = 100_000;

/** A turn of a conversation with a client. */
export interface Turn {
  readonly prompt: string;
  readonly isFirst: boolean;
  /** The key of the provider. */
  readonly key: string;
}

const HELLO: Turn = { prompt: "Say hello.", isFirst: true, key: "sk-ant-0123456789" };

/** A client, its own files and its command. */
export interface RealClient {
  readonly agent: Agent;
  readonly files: Readonly<Record<string, string>>;
  readonly command: (installed: string, home: string, turn?: Turn) => Command | undefined;
  /** Path of the first request, or output, that proves the address. */
  readonly path: RegExp;
}

function commandOf(agent: Agent, change: (command: Command, key: string) => Command = (same) => same) {
  return (installed: string, home: string, { prompt, isFirst, key }: Turn = HELLO) => {
    const pointed = { url: "http://127.0.0.1:9", api: "anthropic", installed, home, project: home } as const;
    const command = agent.command(pointed, prompt, isFirst);
    return command && change(command, key);
  };
}

const LOGIN = JSON.stringify({ auth_mode: "apikey", OPENAI_API_KEY: "sk-0123456789" });
const MODEL = "claude-sonnet-4-5";

export const REAL_CLIENTS: readonly RealClient[] = [
  {
    agent: claudeCode,
    files: { ".claude/settings.json": '{\n  "includeCoAuthoredBy": false\n}\n' },
    path: /^\/v1\/messages/,
    command: commandOf(claudeCode, (command, key) => {
      // The address must come from the file.
      const { ANTHROPIC_BASE_URL: _, ...env } = command.env ?? {};
      return { ...command, env: { ...env, ANTHROPIC_API_KEY: key } };
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
    command: commandOf(opencode, (command, key) => ({
      ...command,
      env: { ...command.env, ANTHROPIC_API_KEY: key },
    })),
  },
  {
    agent: pi,
    files: { ".pi/agent/models.json": '{\n  // mine\n  "providers": {}\n}\n' },
    path: /^\/v1\/messages/,
    command: commandOf(pi, ({ args, ...command }, key) => ({
      ...command,
      args: args.map((arg) => ({ scripted: "anthropic", "scripted-model": MODEL })[arg] ?? arg),
      env: { ...command.env, ANTHROPIC_API_KEY: key },
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
      ".cline/data/secrets.json": JSON.stringify({ apiKey: HELLO.key }),
    },
    path: /^\/v1\/messages/,
    command: commandOf(cline),
  },
  {
    agent: continueDev,
    files: {
      ".continue/config.yaml": `name: mine # my own\nversion: 1.0.0\nschema: v1\nmodels:\n  - name: Sonnet\n    provider: anthropic\n    model: ${MODEL}\n    apiKey: ${HELLO.key}\n    roles: [chat]\n`,
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

/** Runs a client's command with nothing of this machine but its home folder; providers cannot be reached. */
export function runClient(
  command: Command,
  home: string,
  { cwd = testFolder(), endOn }: { readonly cwd?: string; readonly endOn?: Promise<unknown> } = {},
): Promise<Ended> {
  const closed = "http://127.0.0.1:9";
  const proxies = { HTTPS_PROXY: closed, https_proxy: closed, NO_PROXY: "127.0.0.1", no_proxy: "127.0.0.1" };
  const baseEnv = {
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    HOME: home,
    TMPDIR: testFolder(),
    XDG_CONFIG_HOME: join(home, ".config"),
    ...proxies,
  };
  return runProcess(command, { cwd, baseEnv, deadlineMs: DEADLINE_MS, ...(endOn && { endOn }) });
}
