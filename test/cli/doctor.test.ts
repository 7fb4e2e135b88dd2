import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { testFolder } from "../support/folder.ts";
import { proofTest } from "../support/proof.ts";
import { jsonHere, runHere } from "./support/here.ts";
import { storeWith } from "./support/long-session.ts";

/** A finding as `--json` prints it. */
interface Listed {
  readonly area: string;
  readonly level: string;
  readonly text: string;
  readonly isFixable: boolean;
  readonly fixed: string | null;
}

const talk = () =>
  storeWith("talk", (session) =>
    session.append({
      role: "user",
      parts: [{ type: "data", mime: "text/plain", data: Buffer.from("bytes ".repeat(20_000)) }],
    }),
  );

const levelsOf = (findings: readonly Listed[], area: string) =>
  findings.filter((one) => one.area === area).map(({ level }) => level);

describe("longhaul doctor", () => {
  proofTest(
    "longhaul doctor finds no problem in a good store, and nothing to examine without a store",
    async () => {
      const { code, value } = await jsonHere(["doctor", "--deep", "--store", await talk()]);
      expect([code, value.problems]).toEqual([0, 0]);
      for (const area of ["versions", "permissions", "database", "blobs", "leases", "tasks", "configuration"])
        expect(levelsOf(value.findings, area), area).toContain("ok");
      const empty = await runHere(["doctor", "--store", join(testFolder(), "none")]);
      expect([empty.code, empty.stdout]).toEqual([0, expect.stringContaining("there is no store")]);
    },
  );

  test("longhaul doctor reports a lost blob as a problem", async () => {
    const store = await talk();
    rmSync(join(store, "blobs"), { recursive: true });
    const { code, value } = await jsonHere(["doctor", "--store", store]);
    expect(code).toBe(3);
    expect(levelsOf(value.findings, "blobs")).toEqual(["problem"]);
  });

  test("longhaul doctor names a session into which files of the same name were imported", async () => {
    const store = await storeWith("openai-chat/trace", async (session) => {
      await session.update({
        meta: { source: { format: "openai-chat", id: "trace", path: "b/trace.json" } },
      });
      const intake = await session.intake("import:openai-chat/trace");
      for (const text of ["A question of one.", "Another question."])
        await intake.append([{ body: { kind: "message", message: { role: "user", text } } }]);
      const lineage = {
        tip: 1,
        end: 1,
        rewound: null,
        segments: [],
        moved: [],
        versions: [[2, 1]],
        anchor: [],
      };
      await intake.save({ progress: { lineage, chosen: "" } });
    });
    const { value } = await jsonHere(["doctor", "--store", store]);
    expect(value.findings).toContainEqual(
      expect.objectContaining({ area: "histories", text: expect.stringContaining("openai-chat/trace") }),
    );
  });

  test("longhaul doctor reports a damaged database, and says how to save the content", async () => {
    const store = await talk();
    const bytes = readFileSync(join(store, "log.db"));
    bytes.fill(0x5a, 1_024, bytes.length);
    writeFileSync(join(store, "log.db"), bytes);
    const { code, stdout } = await runHere(["doctor", "--store", store]);
    expect(code).toBe(3);
    expect(stdout).toMatch(/problem\s+database/);
    expect(stdout).toContain("longhaul repair");
  });

  test("longhaul doctor repairs permissions, stale files and overdue leases with --fix, and then finds nothing", async () => {
    const store = await talk();
    chmodSync(join(store, "log.db"), 0o644);
    chmodSync(store, 0o755);
    const stray = join(store, "blobs", "incoming", "1-1-left-behind");
    writeFileSync(stray, "half a blob");
    const { utimesSync } = await import("node:fs");
    utimesSync(stray, 1, 1);
    const { openSqliteStore } = await import("../../src/stores/sqlite/index.ts");
    const opened = await openSqliteStore({ path: store });
    await opened.leases.claim({ name: "compact:talk", owner: "dead", expiresAt: 5 }, 1);
    await opened.close();
    chmodSync(join(store, "log.db"), 0o644);
    const before = await jsonHere(["doctor", "--store", store]);
    for (const area of ["permissions", "blobs", "leases"])
      expect(levelsOf(before.value.findings, area), area).toEqual(["warning"]);
    expect(before.code).toBe(0);
    const { value } = await jsonHere(["doctor", "--fix", "--store", store]);
    expect(value.findings.filter(({ fixed }: Listed) => fixed !== null).length).toBeGreaterThanOrEqual(3);
    expect(statSync(store).mode & 0o077).toBe(0);
    const after = await jsonHere(["doctor", "--store", store]);
    for (const area of ["permissions", "blobs", "leases"])
      expect(levelsOf(after.value.findings, area), area).toEqual(["ok"]);
  });

  test("longhaul doctor reports an invalid configuration, and variables that nothing reads", async () => {
    const store = await talk();
    writeFileSync(join(store, "longhaul.json"), '{ "threshhold": 50 }', { mode: 0o600 });
    const env = { LONGHAUL_THRESHHOLD: "50" };
    const { code, value } = await jsonHere(["doctor", "--store", store], { env });
    expect(code).toBe(3);
    const found = value.findings.filter(({ area }: Listed) => area === "configuration");
    expect(found.map(({ level }: Listed) => level)).toEqual(["problem", "warning"]);
    expect(found[1].remedy).toBe("did you mean LONGHAUL_THRESHOLD?");
  });

  test("longhaul doctor reports a connected agent whose gateway does not answer", async () => {
    const store = await talk();
    const home = testFolder();
    mkdirSync(join(home, ".claude"));
    await runHere(["connect", "claude-code", "--yes", "--store", store, "--url", "http://127.0.0.1:9"], {
      home,
    });
    const { code, value } = await jsonHere(["doctor", "--store", store], { home });
    expect(code).toBe(3);
    expect(value.findings.find(({ area }: Listed) => area === "agents")?.text).toMatch(/no gateway answers/);
  });

  test("longhaul doctor writes a report without secrets, names or folders of the user", async () => {
    const home = testFolder();
    const store = join(home, "store");
    const token = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
    mkdirSync(store);
    writeFileSync(join(store, "longhaul.json"), JSON.stringify({ host: token }), { mode: 0o600 });
    const out = join(testFolder(), "report.md");
    await runHere(["doctor", "--issue", "--out", out, "--store", store], { home });
    const report = readFileSync(out, "utf8");
    expect(report).toContain("| configuration | problem |");
    expect(report).not.toContain(home);
    expect(report).not.toContain(token);
    expect(statSync(out).mode & 0o077).toBe(0);
  });
});
