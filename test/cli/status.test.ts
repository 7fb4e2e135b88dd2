import { utimesSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { testFolder } from "../support/folder.ts";
import { startGateway } from "../support/gateway.ts";
import { proofTest } from "../support/proof.ts";
import { startUpstream } from "../support/upstream.ts";
import { writeConversation } from "./support/conversation.ts";
import { jsonHere, runHere } from "./support/here.ts";
import { storeWith, talk } from "./support/long-session.ts";
import { runJson } from "./support/program.ts";

const NOWHERE = "http://127.0.0.1:9";

describe("longhaul status", () => {
  test("longhaul status shows the store, the state of its index and the gateway", async () => {
    const store = await storeWith("one", (session) => talk(session, 3));
    const before = (await jsonHere(["status", "--url", NOWHERE, "--store", store])).value;
    expect(before).toMatchObject({
      path: store,
      store: { sessions: 1, index: { chunks: 0, unindexed: 6 } },
      gateway: { url: NOWHERE, isRunning: false },
    });
    expect(before.store.sizeBytes).toBeGreaterThan(1_000);
    const { stdout } = await runHere(["status", "--url", NOWHERE, "--store", store]);
    expect(stdout).toContain('0% done, 6 entries to index; "longhaul index" completes it');
    expect(stdout).toContain('not running; "longhaul serve" starts it');
    await jsonHere(["index", "--store", store]);
    expect((await runHere(["status", "--url", NOWHERE, "--store", store])).stdout).toMatch(
      /index +\d+ chunks, complete/,
    );
  });

  test("longhaul status finds a running gateway, and creates no store", async () => {
    const gateway = await startGateway({ upstream: (await startUpstream()).url });
    const store = `${testFolder()}/none`;
    const { value } = await jsonHere(["status", "--url", gateway.url, "--store", store]);
    expect(value).toMatchObject({ store: null, gateway: { isRunning: true } });
    expect((await runHere(["status", "--url", gateway.url, "--store", store])).stdout).toContain(
      `running at ${gateway.url}`,
    );
  });
});

proofTest("longhaul import builds the index, unless --no-index is given", async () => {
  const home = testFolder();
  const file = writeConversation(home, 1, 5);
  const left = `${testFolder()}/left`;
  const built = `${testFolder()}/built`;
  expect((await runJson(["import", file, "--no-index", "--store", left])).value.indexed).toBeUndefined();
  const status = async (store: string) =>
    (await jsonHere(["status", "--url", NOWHERE, "--store", store])).value;
  expect((await status(left)).store.index.unindexed).toBeGreaterThan(0);
  const { value } = await runJson(["import", file, "--store", built]);
  expect(value.indexed.entries).toBeGreaterThan(5);
  expect((await status(built)).store.index).toMatchObject({ unindexed: 0, unembedded: 0 });
});

test("longhaul status and doctor warn of conversations that an agent will delete before they are stored", async () => {
  const home = testFolder();
  const path = writeConversation(home, 1, 1);
  const old = new Date(Date.now() - 27 * 86_400_000);
  utimesSync(path, old, old);
  const store = `${testFolder()}/store`;
  const screen = { env: { HOME: home }, home };
  const status = () => runHere(["status", "--url", NOWHERE, "--store", store], screen);
  const doctor = () => jsonHere(["doctor", "--store", store], screen);
  expect((await status()).stdout.replace(/\s+/g, " ")).toContain(
    'Claude Code deletes 1 conversation within 30 days, 1 of them within 7 days, and the store does not have them; "longhaul import --yes" keeps them',
  );
  expect((await doctor()).value.findings).toContainEqual(
    expect.objectContaining({ area: "histories", level: "warning" }),
  );
  await jsonHere(["import", "--yes", "--store", store], screen);
  expect((await status()).stdout).not.toContain("deletes 1 conversation");
  expect((await doctor()).value.findings).toContainEqual(
    expect.objectContaining({ area: "histories", level: "ok" }),
  );
});
