import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { testFolder } from "../../support/folder.ts";
import { jsonHere, runHere } from "../support/here.ts";
import { FILE_AGENTS, FILES, homeWith, snapshotOf } from "./home.ts";

const URL_NOW = "http://127.0.0.1:4747";

interface AgentJson {
  readonly name: string;
  readonly state: string;
  readonly reason?: string;
  readonly notes?: readonly string[];
}

function statesOf(value: { readonly agents: readonly AgentJson[] }): Readonly<Record<string, string>> {
  return Object.fromEntries(value.agents.map(({ name, state }) => [name, state]));
}

function readHome(home: string, path: string): string {
  return readFileSync(join(home, path), "utf8");
}

describe("connect", () => {
  test("connect finds the agents of this computer, and disconnect restores every byte and mode", async () => {
    const home = homeWith();
    const before = snapshotOf(home);
    const connected = await jsonHere(["connect", "--yes"], { home });
    expect(connected.code).toBe(0);
    expect(statesOf(connected.value)).toEqual(
      Object.fromEntries(FILE_AGENTS.map((name) => [name, "connected"])),
    );
    const after = snapshotOf(home);
    for (const path of Object.keys(FILES)) {
      expect(after[path]).toContain(URL_NOW);
      expect(after[path]?.slice(0, 4)).toBe("640 ");
    }
    const again = await jsonHere(["connect", "--yes"], { home });
    expect(statesOf(again.value)).toEqual(Object.fromEntries(FILE_AGENTS.map((name) => [name, "unchanged"])));
    expect(snapshotOf(home)).toEqual(after);
    const left = await jsonHere(["disconnect"], { home });
    expect(left.code).toBe(0);
    for (const name of FILE_AGENTS) expect(statesOf(left.value)[name]).toBe("restored");
    expect(snapshotOf(home)).toEqual(before);
    expect((await runHere(["disconnect"], { home })).stdout).toBe("No agent is connected.\n");
    expect(existsSync(join(home, ".longhaul"))).toBe(false);
  });

  test("disconnect removes the folders that connect made, and both commands accept --yes", async () => {
    const home = homeWith({ ".codex/notes.txt": "mine" });
    const before = readdirSync(home, { recursive: true });
    for (const way of [[], ["--mcp"]]) {
      const agents = ["codex", "opencode", "claude-code", ...way];
      expect((await runHere(["connect", "--yes", ...agents], { home })).code).toBe(0);
      expect(readdirSync(home, { recursive: true })).not.toEqual(before);
      expect((await runHere(["disconnect", "--yes"], { home })).code).toBe(0);
      expect(readdirSync(home, { recursive: true })).toEqual(before);
    }
  });

  test("connect keeps comments, order and indentation", async () => {
    const home = homeWith();
    await runHere(["connect", "--yes"], { home });
    expect(readHome(home, ".codex/config.toml")).toBe(
      `# my settings\nmodel = "gpt-5.5" # best\nopenai_base_url = "${URL_NOW}/v1"\n\n[tui]\ntheme = "dark"\n`,
    );
    expect(readHome(home, ".config/opencode/opencode.jsonc")).toBe(
      `{\n    // my model\n    "model": "anthropic/claude-sonnet-4-5",\n    "mcp": {},\n    "provider": {\n        "anthropic": {\n            "options": {\n                "baseURL": "${URL_NOW}/v1"\n            }\n        }\n    },\n}\n`,
    );
    expect(readHome(home, ".continue/config.yaml")).toBe(
      (FILES[".continue/config.yaml"] as string).replace(
        "  - name: Local",
        `    apiBase: ${URL_NOW}/v1\n  - name: Local`,
      ),
    );
  });

  test("connect shows the change with secrets masked, and writes it only after a yes", async () => {
    const home = homeWith();
    const before = snapshotOf(home);
    const declined = await runHere(["connect", "--no-color"], { home, answer: "n" });
    expect(declined.stdout).toContain(`    +   "env": {\n    +     "ANTHROPIC_BASE_URL": "${URL_NOW}",\n`);
    expect(declined.stdout).toContain("    @ line");
    expect(declined.stdout).not.toContain("sk-ant-api03");
    expect(declined.stdout).toContain("Write these 7 changes? [y/N] Nothing was changed.");
    expect(snapshotOf(home)).toEqual(before);
    const dry = await runHere(["connect", "--dry-run"], { home });
    expect(dry.stdout).toContain("Dry run: nothing was changed.");
    const refused = await runHere(["connect", "codex"], { home });
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") });
    expect((await jsonHere(["connect", "codex"], { home })).code).toBe(2);
    expect(snapshotOf(home)).toEqual(before);
    const agreed = await runHere(["connect", "codex"], { home, answer: "y" });
    expect(agreed.stdout).toContain('Connected: Codex. "longhaul disconnect" restores the files.');
    expect(agreed.stdout).toContain(`No gateway answers at ${URL_NOW} yet`);
    expect(readHome(home, ".codex/config.toml")).toContain("openai_base_url");
  });

  test("connect creates a missing file, which disconnect removes again", async () => {
    const home = testFolder();
    expect((await runHere(["connect"], { home })).stdout).toContain("No agent was found");
    mkdirSync(join(home, ".claude"));
    const shown = await runHere(["connect", "--yes"], { home });
    expect(shown.stdout).toContain("~/.claude/settings.json (new file)");
    const path = join(home, ".claude/settings.json");
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
      env: { ANTHROPIC_BASE_URL: URL_NOW, _CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL: "1" },
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect((await runHere(["disconnect"], { home })).stdout).toContain("removed again");
    expect(readdirSync(join(home, ".claude"))).toEqual([]);
  });

  test("connect presents the gateway to Claude Code as Anthropic only if the upstream is Anthropic", async () => {
    const files = { ".claude/settings.json": '{\n  "model": "opus"\n}\n' };
    const settingsOf = async (env: Readonly<Record<string, string>>) => {
      const home = homeWith(files);
      expect((await runHere(["connect", "--yes", "claude-code"], { home, env })).code).toBe(0);
      const written = JSON.parse(readHome(home, ".claude/settings.json"));
      // The backups are not needed for the way back.
      rmSync(join(home, ".longhaul"), { recursive: true });
      await runHere(["disconnect"], { home });
      expect(readHome(home, ".claude/settings.json")).toBe(files[".claude/settings.json"]);
      return written.env;
    };
    expect(await settingsOf({})).toHaveProperty("_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL", "1");
    expect(await settingsOf({ LONGHAUL_UPSTREAM: "http://127.0.0.1:9999" })).toEqual({
      ANTHROPIC_BASE_URL: URL_NOW,
    });
    expect(await settingsOf({ LONGHAUL_UPSTREAM_ANTHROPIC: "https://proxy.example.com" })).toEqual({
      ANTHROPIC_BASE_URL: URL_NOW,
    });
  });

  test("doctor lists every feature that a connected agent loses, with the remedy", async () => {
    const home = homeWith({ ".claude/settings.json": "{}" });
    const listed = async (env: Readonly<Record<string, string>>) => {
      await runHere(["connect", "--yes", "claude-code"], { home, env });
      const { value } = await jsonHere(["doctor"], { home, env });
      return value.findings
        .filter(({ area }: { readonly area: string }) => area === "agents")
        .map(({ text }: { readonly text: string }) => text)
        .join("\n");
    };
    const direct = await listed({});
    expect(direct).toMatch(/Remote Control is refused; .*claude --settings/);
    expect(direct).toContain("mid-conversation-system-clear-at");
    expect(direct).not.toContain("prompt-caching-scope");
    const other = await listed({ LONGHAUL_UPSTREAM: "http://127.0.0.1:9999" });
    for (const feature of ["Remote Control", "prompt-caching-scope", "cache-diagnosis", "tool search"])
      expect(other).toContain(feature);
  });

  test("connect finds an agent by its program, in folders that variables name", async () => {
    const [home, bin, folder] = [testFolder(), testFolder(), testFolder()];
    writeFileSync(join(bin, "codex"), "", { mode: 0o755 });
    const env = { PATH: bin, CODEX_HOME: join(folder, "codex") };
    expect(statesOf((await jsonHere(["connect", "--yes"], { home, env })).value)).toEqual({
      codex: "connected",
    });
    expect(readFileSync(join(folder, "codex/config.toml"), "utf8")).toBe(
      `openai_base_url = "${URL_NOW}/v1"\n`,
    );
    // The backup knows the place, even if the variable is gone.
    expect(statesOf((await jsonHere(["disconnect", "codex"], { home })).value)).toEqual({
      codex: "restored",
    });
    expect(existsSync(join(folder, "codex"))).toBe(false);
  });

  test("connect can change the address later, and disconnect still restores the first content", async () => {
    const home = homeWith();
    const before = snapshotOf(home);
    await runHere(["connect", "--yes"], { home });
    await runHere(["connect", "--yes", "--url", "http://127.0.0.1:9999"], { home });
    expect(readHome(home, ".claude/settings.json")).toContain("http://127.0.0.1:9999");
    await runHere(["disconnect"], { home });
    expect(snapshotOf(home)).toEqual(before);
  });

  test("connect uses the address of the configuration, and refers to tokens by their variable", async () => {
    const home = homeWith();
    const token = "9f3c1a7be20d4586c1f07ea2b85d6934e7a0c2d81b5f";
    mkdirSync(join(home, ".longhaul"), { mode: 0o700 });
    writeFileSync(join(home, ".longhaul/longhaul.json"), '{ "port": 5858, "host": "0.0.0.0" }', {
      mode: 0o600,
    });
    const env = { LONGHAUL_TOKEN: token };
    const { value } = await jsonHere(["connect", "--yes"], { home, env });
    expect(statesOf(value)).toMatchObject({ codex: "connected", cline: "manual", continue: "manual" });
    const codex = readHome(home, ".codex/config.toml");
    expect(codex).toContain('model_provider = "longhaul"\n\n[tui]');
    expect(codex).toContain(
      '[model_providers.longhaul]\nname = "OpenAI"\nbase_url = "http://127.0.0.1:5858/v1"\n',
    );
    expect(codex).toContain('env_http_headers = { x-longhaul-token = "LONGHAUL_TOKEN" }');
    expect(JSON.stringify(snapshotOf(home))).not.toContain(token);
    await runHere(["disconnect"], { home, env });
    expect(readHome(home, ".codex/config.toml")).toBe(FILES[".codex/config.toml"]);
  });

  test("connect says that it replaces the user's own address, and how to keep that address", async () => {
    const home = homeWith({
      ".claude/settings.json": '{ "env": { "ANTHROPIC_BASE_URL": "https://proxy.example" } }',
    });
    const { value } = await jsonHere(["connect", "--yes"], { home });
    expect(value.agents[0].notes[0]).toContain("--upstream anthropic=https://proxy.example");
    await runHere(["disconnect"], { home });
    expect(readHome(home, ".claude/settings.json")).toContain("https://proxy.example");
  });

  test("connect gives instructions where no file can be edited, and a reason where the gateway cannot serve the agent", async () => {
    const home = homeWith({
      ".codex/config.toml":
        'model_provider = "azure"\n[model_providers.azure]\nbase_url = "https://a.example/v1"\n',
      ".config/Code/User/globalStorage/saoudrizwan.claude-dev/x": "",
      ".gemini/settings.json": "{}",
      ".qwen/settings.json": "{}",
    });
    const before = snapshotOf(home);
    const shown = await runHere(["connect", "--yes"], { home, platform: "linux" });
    expect(shown.code).toBe(0);
    expect(shown.stdout).toContain("--upstream azure=https://a.example/v1");
    expect(shown.stdout).toContain(`tick "Use custom base URL" and enter ${URL_NOW}`);
    expect(shown.stdout).toContain(
      "Gemini CLI: only you can set this. With a key of your own, set GOOGLE_GEMINI_BASE_URL=",
    );
    expect(shown.stdout).toContain(`OPENAI_BASE_URL=${URL_NOW}/v1`);
    expect(snapshotOf(home)).toEqual(before);
  });

  test("connect accepts the name or the title of an agent, and suggests the nearest name", async () => {
    const home = homeWith();
    expect((await runHere(["connect", "Claude Code", "--dry-run"], { home })).code).toBe(0);
    const wrong = await runHere(["connect", "clade-code"], { home });
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("did you mean claude-code?") });
  });
});

describe("files that cannot be edited", () => {
  test("files that cannot be edited are refused with a reason and stay unchanged, and other agents are connected", async () => {
    const home = homeWith({
      ...FILES,
      ".claude/settings.json": '{ "model": "opus"\n  "env": {} }',
      ".codex/config.toml": 'model = "unfinished\n',
      ".pi/agent/models.json": "[]",
      ".continue/config.yaml": "models: [{ name: a }]\n",
    });
    writeFileSync(join(home, ".cline/data/globalState.json"), Buffer.from([0x7b, 0xff, 0x7d]));
    const before = snapshotOf(home);
    const { code, value } = await jsonHere(["connect", "--yes"], { home });
    expect(code).toBe(3);
    const agents: readonly AgentJson[] = value.agents;
    const reasons = Object.fromEntries(agents.map(({ name, reason }) => [name, reason]));
    expect(reasons["claude-code"]).toContain('JSON, line 2: expected "," or "}"');
    expect(reasons.codex).toContain("TOML, line 1: a string does not end");
    expect(reasons.pi).toContain("the file is not an object");
    expect(reasons.continue).toContain("models is written on one line");
    expect(reasons.cline).toContain("not UTF-8");
    expect(statesOf(value)).toMatchObject({ opencode: "connected", openclaw: "connected" });
    await runHere(["disconnect", "opencode", "openclaw"], { home });
    expect(snapshotOf(home)).toEqual(before);
  });

  test("connect edits the target of a link and keeps the link, and refuses a dangling link and a folder", async () => {
    const [home, dotfiles] = [testFolder(), testFolder()];
    for (const folder of [".claude", ".codex", ".pi/agent/models.json"])
      mkdirSync(join(home, folder), { recursive: true });
    const real = join(dotfiles, "settings.json");
    writeFileSync(real, "{}\n", { mode: 0o604 });
    symlinkSync(real, join(home, ".claude/settings.json"));
    symlinkSync(join(dotfiles, "nowhere"), join(home, ".codex/config.toml"));
    const { value } = await jsonHere(["connect", "--yes"], { home });
    expect(statesOf(value)).toEqual({ "claude-code": "connected", codex: "refused", pi: "refused" });
    expect(lstatSync(join(home, ".claude/settings.json")).isSymbolicLink()).toBe(true);
    expect(readFileSync(real, "utf8")).toContain(URL_NOW);
    expect(statSync(real).mode & 0o777).toBe(0o604);
    expect(readdirSync(dotfiles)).toEqual(["settings.json"]);
    await runHere(["disconnect"], { home });
    expect(readFileSync(real, "utf8")).toBe("{}\n");
    expect(statSync(real).mode & 0o777).toBe(0o604);
  });
});

describe("disconnect", () => {
  test("disconnect removes only longhaul's settings from a file that has changed since", async () => {
    const home = homeWith();
    await runHere(["connect", "--yes"], { home });
    for (const [path, find, replace] of [
      [".claude/settings.json", '"opus"', '"sonnet"'],
      [".codex/config.toml", 'theme = "dark"', 'theme = "light"\nnew = true'],
      [".config/opencode/opencode.jsonc", '"mcp": {}', '"mcp": { "a": 1 }'],
      [".continue/config.yaml", "model: qwen", "model: qwen3"],
    ] as const)
      writeFileSync(join(home, path), readHome(home, path).replace(find, replace));
    const shown = await runHere(["disconnect"], { home });
    expect(shown.stdout).toContain("only longhaul's settings are removed");
    expect(readHome(home, ".claude/settings.json")).toBe(
      (FILES[".claude/settings.json"] as string).replace("opus", "sonnet"),
    );
    expect(readHome(home, ".codex/config.toml")).toBe(
      (FILES[".codex/config.toml"] as string).replace('theme = "dark"', 'theme = "light"\nnew = true'),
    );
    expect(readHome(home, ".config/opencode/opencode.jsonc")).toBe(
      (FILES[".config/opencode/opencode.jsonc"] as string).replace('"mcp": {}', '"mcp": { "a": 1 }'),
    );
    expect(readHome(home, ".continue/config.yaml")).toBe(
      (FILES[".continue/config.yaml"] as string).replace("model: qwen", "model: qwen3"),
    );
  });

  test("disconnect keeps a setting that the user has changed, and says so", async () => {
    const home = homeWith();
    await runHere(["connect", "codex", "--yes"], { home });
    const moved = readHome(home, ".codex/config.toml").replace(URL_NOW, "https://elsewhere.example");
    writeFileSync(join(home, ".codex/config.toml"), moved);
    const shown = await runHere(["disconnect"], { home });
    expect(shown.stdout).toContain("openai_base_url has another value now and stays.");
    expect(readHome(home, ".codex/config.toml")).toBe(moved);
  });

  test("disconnect works without a store or backups, even with a damaged configuration", async () => {
    const home = homeWith();
    await runHere(["connect", "--yes"], { home });
    rmSync(join(home, ".longhaul"), { recursive: true });
    mkdirSync(join(home, ".longhaul"), { mode: 0o700 });
    writeFileSync(join(home, ".longhaul/longhaul.json"), "{ damaged", { mode: 0o600 });
    const { code, value } = await jsonHere(["disconnect"], { home });
    expect(code).toBe(0);
    for (const name of FILE_AGENTS) expect(statesOf(value)[name]).toBe("removed");
    expect(JSON.stringify(snapshotOf(home))).not.toContain(URL_NOW);
    expect(readHome(home, ".codex/config.toml")).toBe(FILES[".codex/config.toml"]);
    expect(readHome(home, ".claude/settings.json")).toBe(FILES[".claude/settings.json"]);
    expect(readHome(home, ".continue/config.yaml")).toBe(FILES[".continue/config.yaml"]);
  });

  test("disconnect survives a crash between the backup and the write, and a deleted file", async () => {
    const home = homeWith();
    await runHere(["connect", "codex", "claude-code", "--yes"], { home });
    writeFileSync(join(home, ".codex/config.toml"), FILES[".codex/config.toml"] as string);
    rmSync(join(home, ".claude/settings.json"));
    const { value } = await jsonHere(["disconnect", "codex", "claude-code"], { home });
    expect(statesOf(value)).toEqual({ codex: "not connected", "claude-code": "not connected" });
    expect(readHome(home, ".codex/config.toml")).toBe(FILES[".codex/config.toml"]);
    expect(existsSync(join(home, ".longhaul"))).toBe(false);
  });

  test("disconnect finds the backups of the default store, and ignores a damaged backup", async () => {
    const [home, store] = [homeWith(), testFolder()];
    await runHere(["connect", "codex", "--yes"], { home });
    const folder = join(home, ".longhaul/connections");
    const [name = ""] = readdirSync(folder);
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    const record = JSON.parse(readFileSync(join(folder, name), "utf8"));
    record.before.content = Buffer.from("other").toString("base64");
    writeFileSync(join(folder, name), JSON.stringify(record));
    const dry = await runHere(["disconnect", "codex", "--dry-run", "--store", store], { home });
    expect(dry.stdout).toContain(`    - openai_base_url = "${URL_NOW}/v1"`);
    const shown = await runHere(["disconnect", "codex", "--store", store], { home });
    expect(shown.stdout).toContain("There is no backup");
    expect(readHome(home, ".codex/config.toml")).toBe(FILES[".codex/config.toml"]);
  });

  test.skipIf(process.getuid?.() === 0)("connect refuses an agent whose folder is read-only", async () => {
    const home = homeWith();
    chmodSync(join(home, ".codex"), 0o500);
    const { code, value } = await jsonHere(["connect", "codex", "--yes"], { home });
    expect({ code, states: statesOf(value) }).toEqual({ code: 3, states: { codex: "refused" } });
    chmodSync(join(home, ".codex"), 0o700);
  });
});
