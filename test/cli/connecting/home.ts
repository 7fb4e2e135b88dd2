import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { testFolder } from "../../support/folder.ts";

/** Configuration files of agents as people have them: comments, keys, odd indentation. */
export const FILES: Readonly<Record<string, string>> = {
  ".claude/settings.json": '{\n  "permissions": { "allow": ["Bash(ls:*)"] },\n  "model": "opus"\n}\n',
  ".codex/config.toml": '# my settings\nmodel = "gpt-5.5" # best\n\n[tui]\ntheme = "dark"\n',
  ".config/opencode/opencode.jsonc":
    '{\n    // my model\n    "model": "anthropic/claude-sonnet-4-5",\n    "mcp": {},\n}\n',
  ".pi/agent/models.json": '{"providers":{"ollama":{"baseUrl":"http://localhost:11434/v1"}}}',
  ".cline/data/globalState.json": '{\n  "actModeApiProvider": "anthropic",\n  "mode": "act"\n}',
  ".continue/config.yaml":
    "name: mine\nversion: 1.0.0\nschema: v1\nmodels:\n  - name: Sonnet\n    provider: anthropic\n    model: claude-sonnet-4-5\n    apiKey: sk-ant-api03-0123456789abcdefghijklmnopqrstuvwxyzABCDEF\n  - name: Local\n    provider: ollama\n    model: qwen\n",
  ".openclaw/openclaw.json":
    "{\n  // JSON5\n  agents: { defaults: { model: { primary: 'anthropic/claude-sonnet-4-5' } } },\n}\n",
};

/** Agents with a file in `FILES`. */
export const FILE_AGENTS = ["claude-code", "codex", "opencode", "pi", "cline", "continue", "openclaw"];

/** A home folder with these files. */
export function homeWith(files: Readonly<Record<string, string>> = FILES): string {
  const home = testFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text, { mode: 0o640 });
  }
  return home;
}

/** Content and mode of every file below a folder, without longhaul's own. */
export function snapshotOf(home: string): Readonly<Record<string, string>> {
  const files = readdirSync(home, { recursive: true })
    .map(String)
    .filter((path) => !path.startsWith(".longhaul") && statSync(join(home, path)).isFile())
    .sort();
  return Object.fromEntries(
    files.map((path) => {
      const { mode } = statSync(join(home, path));
      return [path, `${(mode & 0o777).toString(8)} ${readFileSync(join(home, path), "utf8")}`];
    }),
  );
}
