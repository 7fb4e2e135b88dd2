import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testFolder } from "../support/folder.ts";
import { createSchemaUrl, describeProblem, findTestPostgres } from "../support/postgres/test-postgres.ts";
import { proofTestIf } from "../support/proof.ts";
import { jsonHere, runHere } from "./support/here.ts";

const server = await findTestPostgres();
/** Nothing listens there. */
const URL_WITH_PASSWORD = "postgres://me:secret@127.0.0.1:1/x";
const PLAIN_URL = "postgres://me@127.0.0.1:1/x";

/** A home folder with a configuration file. */
function homeWith(settings: object): string {
  const home = testFolder();
  mkdirSync(join(home, ".longhaul"), { mode: 0o700 });
  writeFileSync(join(home, ".longhaul", "longhaul.json"), JSON.stringify(settings), { mode: 0o600 });
  return home;
}

/** A computer whose service manager accepts everything. */
function computerOf(home: string, env: Readonly<Record<string, string>> = {}) {
  const bin = testFolder();
  writeFileSync(join(bin, "systemctl"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
  return { home, env: { PATH: bin, ...env }, platform: "linux" } as const;
}

function readService(home: string): string {
  return readFileSync(join(home, ".config/systemd/user/longhaul.service"), "utf8");
}

proofTestIf(!("problem" in server))(
  `the configuration can name the store, but a folder or a variable takes precedence (${describeProblem(server)})`,
  async () => {
    const home = homeWith({ store: createSchemaUrl(server) });
    const url = JSON.parse(readFileSync(join(home, ".longhaul/longhaul.json"), "utf8")).store;
    expect((await runHere(["remember", "The key is blue."], { home })).code).toBe(0);
    expect(existsSync(join(home, ".longhaul", "log.db"))).toBe(false);
    const status = await jsonHere(["status"], { home });
    expect(status.value).toMatchObject({ path: url, store: { sessions: expect.any(Number) } });
    expect((await runHere(["memories"], { home })).stdout).toContain("The key is blue.");
    const doctor = await jsonHere(["doctor"], { home });
    expect([doctor.value.path, doctor.value.problems]).toEqual([url, 0]);
    expect(JSON.stringify(doctor.value.findings)).toMatch(/PostgreSQL \d+.* at postgres:/);
    expect(JSON.stringify(doctor.value.findings)).toContain("free for the settings");
    const folder = testFolder();
    expect((await jsonHere(["status", "--store", folder], { home })).value.path).toBe(folder);
    const other = await runHere(["memories"], { home, env: { LONGHAUL_STORE: PLAIN_URL } });
    expect(other.code).not.toBe(0);
  },
);

test("the configuration refuses a password, and names the variable for it", async () => {
  const home = homeWith({});
  const set = await runHere(["config", "set", "store", URL_WITH_PASSWORD], { home });
  expect(set.code).not.toBe(0);
  expect(set.stderr).toMatch(/PGPASSWORD/);
  expect((await runHere(["config", "set", "store", PLAIN_URL], { home })).code).toBe(0);
  expect((await runHere(["config", "set", "store", "/a/folder"], { home })).stderr).toMatch(/postgres:\/\//);
});

test("a service keeps the URL of its store in a file that only its user can read", async () => {
  const home = testFolder();
  const variables = join(home, ".longhaul", "service.env");
  mkdirSync(join(home, ".longhaul"), { mode: 0o700 });
  writeFileSync(variables, "ANTHROPIC_API_KEY=abc\nLONGHAUL_STORE=old\n", { mode: 0o644 });
  const screen = computerOf(home, { LONGHAUL_STORE: URL_WITH_PASSWORD });
  const installed = await runHere(["service", "install", "--yes"], screen);
  expect(installed.code).toBe(0);
  expect(installed.stdout).toContain("LONGHAUL_STORE=postgres://me:***@127.0.0.1:1/x");
  expect(installed.stdout).not.toContain("secret");
  expect(readService(home)).not.toMatch(/secret|--store/);
  expect(readService(home)).toContain(`--env-file-if-exists=${variables}`);
  expect(readFileSync(variables, "utf8")).toBe(
    `ANTHROPIC_API_KEY=abc\nLONGHAUL_STORE=${URL_WITH_PASSWORD}\n`,
  );
  expect(statSync(variables).mode & 0o077).toBe(0);
});

test("a service of a configured store keeps only the password, not the URL", async () => {
  const home = homeWith({ store: PLAIN_URL });
  const screen = computerOf(home, { PGPASSWORD: "it's secret" });
  expect((await runHere(["service", "install", "--yes"], screen)).stdout).not.toContain("secret");
  expect(readService(home)).not.toMatch(/secret|--store/);
  const variables = readFileSync(join(home, ".longhaul", "service.env"), "utf8");
  expect(variables).toBe(`PGPASSWORD="it's secret"\n`);
});

test("connect --mcp lets the agent find the store without a password in its file", async () => {
  const home = testFolder();
  mkdirSync(join(home, ".longhaul"), { mode: 0o700 });
  mkdirSync(join(home, ".codex"));
  writeFileSync(join(home, ".codex", "config.toml"), "");
  const screen = computerOf(home, { LONGHAUL_STORE: URL_WITH_PASSWORD });
  const connected = await runHere(["connect", "codex", "--mcp", "--yes"], screen);
  expect(connected.code).toBe(0);
  expect(connected.stdout).not.toContain("secret");
  const file = readFileSync(join(home, ".codex", "config.toml"), "utf8");
  expect(file).toContain("service.env");
  expect(file).not.toMatch(/secret|postgres:/);
  const variables = join(home, ".longhaul", "service.env");
  expect(readFileSync(variables, "utf8")).toContain(`LONGHAUL_STORE=${URL_WITH_PASSWORD}`);
  expect(statSync(variables).mode & 0o077).toBe(0);
});
