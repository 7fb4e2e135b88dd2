import { readFileSync, rmSync, utimesSync } from "node:fs";
import { expect } from "vitest";
import { planContinuation } from "../../src/histories/continuing/continuation.ts";
import { watchSources } from "../../src/histories/watch-sources.ts";
import { conversationId, writeConversation } from "../cli/support/conversation.ts";
import { testFolder } from "../support/folder.ts";
import { testKernel } from "../support/kernel.ts";
import { proofRounds, sizedTest } from "../support/proof.ts";

const DAY = 86_400_000;
const KEPT_DAYS = 30;

sizedTest("a watched agent that deletes conversations after 30 days loses none in a year", async () => {
  const days = proofRounds(365, 40);
  const home = testFolder();
  const kernel = await testKernel();
  const begin = Date.now() - (days + 60) * DAY;
  const written = new Map<number, { readonly path: string; readonly bytes: Buffer }>();
  /** Talks, and then deletes as the agent does at its start. */
  const live = (day: number) => {
    const path = writeConversation(home, day, 2);
    const at = new Date(begin + day * DAY);
    utimesSync(path, at, at);
    written.set(day, { path, bytes: readFileSync(path) });
    const old = written.get(day - KEPT_DAYS);
    if (old) rmSync(old.path);
  };
  const stop = new AbortController();
  let day = 0;
  live(day);
  const options = { intervalMs: 1, withOriginals: true, signal: stop.signal, agents: async () => [] };
  for await (const event of watchSources(kernel, [home], options)) {
    expect(event.type).not.toBe("problem");
    if (event.type !== "idle") continue;
    if (++day < days) live(day);
    else stop.abort();
  }
  const system = { home, platform: "linux", env: {} } as const;
  for (const [number, { path, bytes }] of written) {
    const { files } = await planContinuation(kernel, `claude-code/${conversationId(number)}`, { system });
    const pieces: Uint8Array[] = [];
    for (const file of files) for await (const piece of file.pieces()) pieces.push(Buffer.from(piece));
    expect(files.map((file) => file.path)).toEqual([path]);
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
  }
  expect(written.size).toBe(days);
});
