import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import { testFolder } from "../support/folder.ts";
import { proofTest } from "../support/proof.ts";
import { jsonHere, runHere } from "./support/here.ts";

test("people can be added, listed, limited, rotated and revoked, and their token is printed once", async () => {
  const store = ["--store", testFolder()];
  const added = await runHere(["token", "add", "alice", "--budget", "50/month", "--rpm", "60", ...store]);
  expect(added.code).toBe(0);
  expect(added.stdout).toMatch(/^lh_[\w-]{43}\n$/);
  expect(added.stderr).toContain("shown only now");
  const again = await runHere(["token", "add", "alice", ...store]);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("longhaul token rotate alice")]);
  const wrong = await runHere(["token", "add", "bob", "--budget", "50/fortnight", ...store]);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("50/month")]);

  const set = await runHere([
    ...["token", "set", "alice", "--budget", "80/month", "--budget", "2m tokens/day:model=claude-opus-*"],
    ...["--role", "admin", "--models", "claude-*,gpt-5", ...store],
  ]);
  expect(set.stdout).toContain("2,000,000 tokens per day for the model claude-opus-*");
  await runHere(["token", "set", "--team", "--budget", "500/month:project=shop", ...store]);
  const { value } = await jsonHere(["token", "list", ...store]);
  expect(value.people).toMatchObject([{ name: "alice", role: "admin", models: ["claude-*", "gpt-5"] }]);
  expect(value.people[0].budgets.map(({ amount }: { amount: number }) => amount).toSorted()).toEqual([
    2_000_000, 60, 80,
  ]);
  expect(value.shared).toMatchObject([{ amount: 500, project: "shop" }]);
  expect(JSON.stringify(value)).not.toContain(added.stdout.trim());
  const listed = await runHere(["token", "list", ...store]);
  expect(listed.stdout).toContain("$0 of $80 per month (0 %)");

  const rotated = await jsonHere(["token", "rotate", "alice", "--grace", "1h", "--expires", "90d", ...store]);
  expect(rotated.value.token).not.toBe(added.stdout.trim());
  const revoked = await runHere(["token", "revoke", "alice", ...store]);
  expect(revoked.stdout).toBe("Revoked 2 tokens of alice.\n");
  expect((await runHere(["token", "revoke", "nobody", ...store])).code).toBe(1);

  const audit = await jsonHere(["audit", ...store]);
  expect(audit.value.problem).toBeNull();
  expect(audit.value.entries.map(({ act }: { act: string }) => act)).toEqual([
    "token.add",
    "budget.set",
    "budget.set",
    "person.change",
    "budget.set",
    "budget.set",
    "budget.set",
    "token.rotate",
    "token.revoke",
  ]);
  expect((await runHere(["audit", ...store])).stdout).toContain("The chain is whole.");
});

test("a budget of somebody else is not removed, and the refused command changes nothing", async () => {
  const store = ["--store", testFolder()];
  await runHere(["token", "add", "alice", ...store]);
  await runHere(["token", "add", "bob", "--budget", "50/month", ...store]);
  const list = async () => (await jsonHere(["token", "list", ...store])).value;
  const before = await list();
  const [budget] = before.people[1].budgets;
  for (const id of [budget.id, "unknown"]) {
    const refused = await runHere(["token", "set", "alice", "--role", "admin", "--remove", id, ...store]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(`alice has no budget ${id}`)]);
  }
  expect(await list()).toEqual(before);
  await runHere(["token", "set", "bob", "--remove", budget.id, ...store]);
  expect((await list()).people[1].budgets).toEqual([]);
});

test("an erased person leaves nothing behind, and the certificate can be verified later", async () => {
  const path = testFolder();
  const cwd = testFolder();
  const store = ["--store", path];
  await runHere(["token", "add", "alice", "--budget", "50/month", ...store]);
  await runHere(["token", "add", "bob", ...store]);
  const [shared, own] = ["shared ".repeat(20_000), "secret ".repeat(20_000)].map((text) => Buffer.from(text));
  const attach = (data: Buffer | undefined) => ({
    role: "user" as const,
    parts: [{ type: "data" as const, data: data as Buffer, mime: "text/plain" }],
  });
  await (async () => {
    await using kernel = await openKernel({ path, embedder: null });
    await using talk = await kernel.session("@alice/talk");
    await talk.append({ role: "user", text: "The vault code is heron." });
    await talk.append(attach(own));
    await talk.append(attach(shared));
    await using child = await talk.fork({ id: "@alice/talk/agent-1" });
    await child.append({ role: "user", text: "A sub-agent of Alice." });
    await kernel.memories("gateway:@alice").remember("Alice likes tea.", { by: "user" });
    await using other = await kernel.session("@bob/talk");
    await other.append({ role: "user", text: "The vault code is osprey." });
    await other.append(attach(shared));
  })();

  const dry = await runHere(["forget", "--person", "alice", ...store], { cwd });
  expect(dry.stdout).toMatch(/would be erased: 3 conversations, .* 1 memory, .* 1 token, 1 budget/);
  expect(dry.stdout).toContain("Nothing was erased");
  expect((await jsonHere(["usage", "--by", "person", ...store])).value.by).toBe("person");

  const file = join(cwd, "certificate.json");
  const done = await jsonHere(["forget", "--person", "alice", "--yes", "--certificate", file, ...store], {
    cwd,
  });
  expect(done.value.certificate.removed).toMatchObject({
    sessions: 3,
    memories: 1,
    blobs: 1,
    tokens: 1,
    budgets: 1,
  });
  expect(done.value.certificate.sharedBlobs).toBe(1);
  expect(readFileSync(join(cwd, "certificate.txt"), "utf8")).toContain("Certificate of erasure");
  expect(readFileSync(file, "utf8")).not.toContain("talk");
  expect((await jsonHere(["sessions", ...store])).value.sessions.map(({ id }: { id: string }) => id)).toEqual(
    ["@bob/talk"],
  );
  expect((await jsonHere(["recall", "vault code heron", ...store])).value.hits.length).toBe(1);
  expect((await jsonHere(["token", "list", ...store])).value.people).toMatchObject([{ name: "bob" }]);
  const { entries } = (await jsonHere(["audit", ...store])).value;
  expect(entries.at(-1)).toMatchObject({
    act: "person.erase",
    target: "alice",
    details: { certificate: done.value.certificate.digest },
  });
  expect(JSON.stringify(entries)).not.toContain("heron");

  const checked = await runHere(["forget", "--verify", file, ...store], { cwd });
  expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining("The certificate holds")]);
  const forged = { ...JSON.parse(readFileSync(file, "utf8")), person: "bob" };
  writeFileSync(join(cwd, "forged.json"), JSON.stringify(forged));
  const refused = await jsonHere(["forget", "--verify", join(cwd, "forged.json"), ...store], { cwd });
  expect(refused.code).toBe(3);
  expect(refused.value.problems).toContain(
    "the certificate was changed: its digest does not match its content",
  );
  expect((await runHere(["forget", "--person", "alice", "--yes", ...store], { cwd })).code).toBe(1);
});

test("retention deletes the conversations of one person, and the audit log records it", async () => {
  const path = testFolder();
  const store = ["--store", path];
  await (async () => {
    const clock = { now: () => Date.now() - 90 * 86_400_000 };
    await using kernel = await openKernel({ path, embedder: null, clock });
    for (const id of ["@alice/talk", "@bob/talk"]) {
      await using session = await kernel.session(id);
      await session.append({ role: "user", text: "Long ago." });
    }
  })();
  const due = ["retention", "--older-than", "30d", "--person", "alice", "--yes", ...store];
  expect((await jsonHere(due)).value.deleted.map(({ id }: { id: string }) => id)).toEqual(["@alice/talk"]);
  const { entries } = (await jsonHere(["audit", ...store])).value;
  expect(entries).toMatchObject([
    { act: "retention.delete", target: "alice", details: { conversations: 1 } },
  ]);
});

proofTest("an audit log that was cut, emptied or replaced is detected", async () => {
  for (const cut of ["seq = 3", "seq > 0"]) {
    const path = testFolder();
    const store = ["--store", path];
    for (const name of ["alice", "bob", "carol"]) await runHere(["token", "add", name, ...store]);
    const db = new DatabaseSync(join(path, "log.db"));
    expect(() => db.exec("INSERT OR REPLACE INTO audit SELECT * FROM audit WHERE seq = 1")).toThrow(
      "append-only",
    );
    db.exec(`DROP TRIGGER audit_kept; DELETE FROM audit WHERE ${cut}`);
    db.close();
    const audit = await jsonHere(["audit", ...store]);
    expect(audit.value.problem).toContain("its end is missing");
  }
});

test("a rotated token ends at once, or after the given grace time, and the command says which", async () => {
  const store = ["--store", testFolder()];
  await runHere(["token", "add", "alice", ...store]);
  expect((await runHere(["token", "rotate", "alice", ...store])).stderr).toContain(
    "The former token has ended",
  );
  expect((await runHere(["token", "rotate", "alice", "--grace", "1h", ...store])).stderr).toContain(
    "stays valid until",
  );
  const { value } = await jsonHere(["token", "list", ...store]);
  const ends = value.people[0].tokens.map(({ expiresAt }: { expiresAt?: number }) => expiresAt ?? Infinity);
  const now = Date.now();
  expect(ends.map((end: number) => (end <= now ? "ended" : end === Infinity ? "open" : "grace"))).toEqual([
    "ended",
    "grace",
    "open",
  ]);
});
