import { describe, expect, onTestFinished, test } from "vitest";
import type { AppendRequest } from "../../../src/log/store/entry-store.ts";
import { openPostgresStore } from "../../../src/stores/postgres/index.ts";
import { startCuttingProxy } from "../../support/postgres/cutting-proxy.ts";
import { createSchemaUrl, describeProblem, findTestPostgres } from "../../support/postgres/test-postgres.ts";

const server = await findTestPostgres();

describe.skipIf("problem" in server)(`a lost answer of the database (${describeProblem(server)})`, () => {
  test("an append that took effect is not repeated if its answer is lost, on either path through the store", async () => {
    const proxy = await startCuttingProxy(createSchemaUrl(server));
    const store = await openPostgresStore({ url: proxy.url });
    onTestFinished(() => store.close());
    await store.sessions.open({ id: "s", createdAt: 1 });
    await store.sessions.open({ id: "t", createdAt: 1 });
    const build = (session: string, text: string, more: Partial<AppendRequest> = {}): AppendRequest => ({
      session,
      entries: [{ kind: "message", at: 1, payload: Buffer.from(text) }],
      ...more,
    });
    const append = async (...requests: AppendRequest[]) =>
      (await store.entries.append(requests)).map((outcome) =>
        outcome instanceof Error ? outcome.code : outcome.firstSeq,
      );
    expect(await append(build("s", "one"))).toEqual([1]);

    // The payload travels with the statement that writes it.
    proxy.cutAfter("second thing");
    expect(await append(build("s", "second thing"), build("t", "other"))).toEqual([2, 1]);
    expect(proxy.cuts).toBe(1);

    await store.drafts.write({ id: "d", session: "s", owner: "me", at: 1, payload: Buffer.from("half") });
    proxy.cutAfter("COMMIT");
    const finishing = build("s", "third", { finishes: "d", expectedHead: 2 });
    expect(await append(finishing, build("t", "x", { expectedHead: 9 }))).toEqual([3, "POSITION_CONFLICT"]);
    expect(proxy.cuts).toBe(2);

    const create = { id: "new", createdAt: 1 };
    proxy.cutAfter("COMMIT");
    expect(await append(build("new", "first", { create, expectedHead: 0 }))).toEqual([1]);
    expect(proxy.cuts).toBe(3);

    const query = { from: 1, to: 100, limit: 100, order: "ascending" } as const;
    const read = async (session: string) =>
      (await store.entries.read(session, query)).map(({ payload }) => Buffer.from(payload).toString());
    expect(await read("s")).toEqual(["one", "second thing", "third"]);
    expect(await read("t")).toEqual(["other"]);
    expect(await read("new")).toEqual(["first"]);
    expect(await store.drafts.list("s")).toEqual([]);
  });
});
