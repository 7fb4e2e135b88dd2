import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { testFolder } from "../support/folder.ts";
import { createSchemaUrl, describeProblem, findTestPostgres } from "../support/postgres/test-postgres.ts";
import { proofTest } from "../support/proof.ts";
import { jsonHere, runHere } from "./support/here.ts";
import { storeWith } from "./support/long-session.ts";

const server = await findTestPostgres();
const talk = () => storeWith("talk", (session) => session.append({ role: "user", text: "the key is blue" }));

describe.skipIf("problem" in server)(`the program on PostgreSQL (${describeProblem(server)})`, () => {
  proofTest("migrate moves a store into a database, and every command finds its content there", async () => {
    const url = createSchemaUrl(server);
    const moved = await jsonHere(["migrate", "--from", await talk(), "--to", url]);
    expect([moved.code, moved.value.sessions, moved.value.entries]).toEqual([0, 1, 1]);
    const status = await jsonHere(["status", "--store", url]);
    expect(status.value.store.sessions).toBe(1);
    const recalled = await runHere(["recall", "which color has the key?", "--store", url]);
    expect(recalled.stdout).toContain("the key is blue");
    const doctor = await jsonHere(["doctor", "--deep", "--store", url]);
    expect([doctor.code, doctor.value.problems]).toEqual([0, 0]);
    const back = join(testFolder(), "back");
    const returned = await jsonHere(["migrate", "--from", url, "--to", back]);
    expect(returned.value.digest).toBe(moved.value.digest);
  });
});

describe("a store by URL", () => {
  test("commands that need a folder name the remedy for a URL, and print no password", async () => {
    const url = "postgres://me:secret@127.0.0.1:1/x";
    const backup = await runHere(["backup", join(testFolder(), "copy"), "--store", url]);
    expect([backup.code, backup.stderr]).toEqual([2, expect.stringContaining("longhaul migrate")]);
    expect(backup.stderr).toMatch(/pg_dump\s+--format=custom\s+--schema=longhaul\s+'?--file=/);
    const wrong = await runHere(["sessions"], { env: { LONGHAUL_STORE: "somewhere" } });
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("LONGHAUL_HOME")]);
    const same = await runHere(["migrate", "--from", url, "--to", url]);
    expect([same.code, same.stderr]).toEqual([2, expect.not.stringContaining("secret")]);
  });
});
