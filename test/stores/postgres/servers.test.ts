import { describe, expect, onTestFinished, test } from "vitest";
import { openPostgresStore } from "../../../src/stores/postgres/index.ts";
import { startCuttingProxy } from "../../support/postgres/cutting-proxy.ts";
import { startPoolingProxy } from "../../support/postgres/pooling-proxy.ts";
import { createSchemaUrl, describeProblem, findTestPostgres } from "../../support/postgres/test-postgres.ts";
import { proofTest } from "../../support/proof.ts";

const server = await findTestPostgres();
const entry = (text: string) => ({ kind: "message", at: 1, payload: Buffer.from(text) }) as const;

/** Returns the head of session `s` as a listener of commits read it when it was last told. */
function followHead(store: Awaited<ReturnType<typeof openPostgresStore>>): () => number {
  let seq = 0;
  onTestFinished(
    store.onCommit(async () => {
      seq = Math.max(seq, (await store.entries.head("s")).seq);
    }),
  );
  return () => seq;
}

describe.skipIf("problem" in server)(`servers and poolers (${describeProblem(server)})`, () => {
  proofTest("a store works behind a pooler in transaction mode, and sees commits of others", async () => {
    const direct = createSchemaUrl(server);
    const proxy = await startPoolingProxy(direct);
    const store = await openPostgresStore({ url: proxy.url });
    onTestFinished(() => store.close());
    await store.sessions.open({ id: "s", createdAt: 1 });
    await store.drafts.write({ id: "d", session: "s", owner: "me", at: 1, payload: Buffer.from("half") });
    for (let count = 0; count < 5; count++)
      await store.entries.append([{ session: "s", entries: [entry("x")] }]);
    await store.entries.append([{ session: "s", entries: [entry("done")], finishes: "d" }]);
    expect((await store.entries.head("s")).seq).toBe(6);
    expect(proxy.resets).toBeGreaterThan(10);
    const heardHead = followHead(store);
    const other = await openPostgresStore({ url: direct });
    onTestFinished(() => other.close());
    await other.entries.append([{ session: "s", entries: [entry("from elsewhere")] }]);
    await expect.poll(heardHead, { message: "the last entry that a listener has heard of" }).toBe(7);
  });

  proofTest("the first reachable server of several is used, and the next one when it fails", async () => {
    const url = createSchemaUrl(server);
    const [first, second] = [await startCuttingProxy(url), await startCuttingProxy(url)];
    const hostOf = (place: string) => new URL(place).host;
    const both = first.url.replace(
      hostOf(first.url),
      `127.0.0.1:1,${hostOf(first.url)},${hostOf(second.url)}`,
    );
    const store = await openPostgresStore({ url: both });
    onTestFinished(() => store.close());
    await store.sessions.open({ id: "s", createdAt: 1 });
    first.close();
    const [outcome] = await store.entries.append([{ session: "s", entries: [entry("after the failover")] }]);
    expect(outcome).toMatchObject({ firstSeq: 1 });
  });

  proofTest("a commit of another process notifies a listener", async () => {
    const url = createSchemaUrl(server);
    const [one, other] = [await openPostgresStore({ url }), await openPostgresStore({ url })];
    onTestFinished(async () => {
      await one.close();
      await other.close();
    });
    await one.sessions.open({ id: "s", createdAt: 1 });
    const heardHead = followHead(one);
    await other.entries.append([{ session: "s", entries: [entry("x")] }]);
    await expect.poll(heardHead, { message: "the last entry that a listener has heard of" }).toBe(1);
  });

  test("wrong addresses, foreign schemas and newer stores are refused with their remedies", async () => {
    const open = (url: string) => openPostgresStore({ url, busyTimeoutMs: 0 });
    await expect(open("postgres://127.0.0.1:1/x")).rejects.toMatchObject({ code: "STORE_IO" });
    await expect(open("mysql://127.0.0.1/x")).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
    await expect(open("postgres://h/x?schema=No")).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
    const url = "url" in server ? server.url : "";
    await expect(open(`${url}?schema=information_schema`)).rejects.toMatchObject({ code: "STORE_FOREIGN" });
    await expect(openPostgresStore({ url: createSchemaUrl(server), isReadOnly: true })).rejects.toMatchObject(
      { code: "STORE_IO" },
    );
  });

  test("a read-only store refuses writes at once", async () => {
    const url = createSchemaUrl(server);
    await (await openPostgresStore({ url })).close();
    const store = await openPostgresStore({ url, isReadOnly: true });
    onTestFinished(() => store.close());
    await expect(store.sessions.open({ id: "s", createdAt: 1 })).rejects.toMatchObject({
      code: "STORE_READ_ONLY",
    });
  });
});
