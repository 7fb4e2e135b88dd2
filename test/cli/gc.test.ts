import { existsSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import { encodePayload } from "../../src/log/codec.ts";
import { writeBody } from "../../src/log/entry-body.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { textOf } from "../support/kernel.ts";
import { jsonHere, runHere } from "./support/here.ts";
import { storeWith } from "./support/long-session.ts";

const HOUR_AGO = Date.now() / 1_000 - 3_700;

/** A store with one referenced blob, one unreferenced old blob, a young one, a temporary file and a dead draft. */
async function littered() {
  const path = await storeWith("talk", (session) =>
    session.append({
      role: "user",
      parts: [{ type: "data", mime: "text/plain", data: Buffer.alloc(70_000, "k") }],
    }),
  );
  const store = await openSqliteStore({ path });
  const write = async (text: string) => {
    const { digest, hold } = await store.blobs.write([Buffer.from(text)], { maxBytes: 1e6 });
    const draft = { id: "d", session: "talk", owner: "me", at: 1, payload: Buffer.from("x") };
    await store.drafts.write({ ...draft, blobs: [digest], holds: [hold] });
    await store.drafts.delete("d");
    return join(path, "blobs", digest.slice(0, 2), digest.slice(2));
  };
  const [old, young] = [await write("old and loose"), await write("young and loose")];
  await store.close();
  utimesSync(old, HOUR_AGO, HOUR_AGO);
  const temporary = join(path, "blobs", "incoming", "1-1-dead");
  writeFileSync(temporary, "half");
  utimesSync(temporary, HOUR_AGO, HOUR_AGO);
  return { path, old, young, temporary };
}

describe("longhaul gc", () => {
  test("longhaul gc without a terminal only lists what it would remove, and removes it with --yes", async () => {
    const { path, old, young, temporary } = await littered();
    const shown = await jsonHere(["gc", "--store", path]);
    const counts = { blobs: 1, blobBytes: 13, temporaryFiles: 1, temporaryBytes: 4, drafts: 0 };
    expect(shown.value).toMatchObject({ isDryRun: true, ...counts });
    expect([old, young, temporary].map((file) => existsSync(file))).toEqual([true, true, true]);
    const done = await jsonHere(["gc", "--yes", "--store", path]);
    expect(done.value).toMatchObject({ isDryRun: false, ...counts });
    expect([old, young, temporary].map((file) => existsSync(file))).toEqual([false, true, false]);
    const { stdout } = await runHere(["gc", "--store", path]);
    expect(stdout).toMatch(/^Nothing to remove\./);
    expect((await jsonHere(["check", "--store", path])).code).toBe(0);
  });

  test("longhaul gc asks before it removes anything on a terminal", async () => {
    const { path, old } = await littered();
    await runHere(["gc", "--store", path], { answer: "n" });
    expect(existsSync(old)).toBe(true);
    const { stdout } = await runHere(["gc", "--store", path], { answer: "y" });
    expect(stdout).toContain("Removed 1 unreferenced blob and 1 temporary file: 17 B.");
    expect(existsSync(old)).toBe(false);
  });

  test("longhaul gc keeps the text of an abandoned draft as an interrupted message", async () => {
    const path = await storeWith("talk", (session) => session.append({ role: "user", text: "Hello." }));
    const store = await openSqliteStore({ path });
    const text = writeBody({
      kind: "message",
      message: { role: "assistant", parts: [{ type: "text", text: "I was about to" }] },
    } as never);
    const payload = encodePayload(text, "message");
    await store.drafts.write({ id: "d", session: "talk", owner: "elsewhere|1|2.x", at: 1, payload });
    await store.close();
    expect((await jsonHere(["gc", "--dry-run", "--store", path])).value.drafts).toBe(1);
    expect((await jsonHere(["gc", "--yes", "--store", path])).value.drafts).toBe(1);
    await using kernel = await openKernel({ path });
    expect(textOf(await (await kernel.session("talk")).entry(2))).toBe("I was about to");
    expect(readdirSync(join(path, "blobs", "incoming"))).toEqual([]);
  });
});
