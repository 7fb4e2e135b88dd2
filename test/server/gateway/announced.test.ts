import { describe, expect, test } from "vitest";
import { formatTokens } from "../../../src/model/usage.ts";
import { formatAnnouncement, formatPrettyLine } from "../../../src/server/gateway/observe/gateway-log.ts";
import { startGateway, threadsOf } from "../../support/gateway.ts";
import { proofTest } from "../../support/proof.ts";
import { startLimitedUpstream } from "./limited.ts";
import { working, workOn } from "./long-session.ts";

const WINDOW = 200_000;

/** A session long enough that an early edit saves money, and far below the threshold. */
async function work(config: { readonly when?: string; readonly dryRun?: boolean }, characters = 7_000) {
  const upstream = await startLimitedUpstream({
    api: "anthropic",
    window: WINDOW,
    count: (body) => Math.ceil(body.length / 4),
    reply: working,
  });
  const gateway = await startGateway({ upstream: upstream.url, config: { ...config } });
  await workOn(gateway, { api: "anthropic", turns: 70, characters, clientWindow: WINDOW });
  const edits = gateway.logged.filter(({ event }) => event === "edit").map(({ message }) => String(message));
  const [main] = await threadsOf(gateway, "main");
  const session = await gateway.kernel.session(main?.id);
  const { entries } = await session.page({ kinds: ["notice"], limit: 100 });
  return { edits, notes: entries, id: main?.id, gateway };
}

describe("an edit", () => {
  proofTest(
    "an edit is announced in the log and as a note in the conversation, with the command that undoes it",
    async () => {
      const { edits, notes, id } = await work({});
      expect(edits.length).toBeGreaterThan(0);
      for (const line of edits)
        expect(line).toMatch(/^window edited: \S+ → \S+ tokens, .+, undo: longhaul revert \S+ \d+$/);
      expect(edits[0]).toContain(`longhaul revert ${id} `);
      expect(JSON.stringify(notes)).toContain(edits[0]);
      expect(notes).toHaveLength(edits.length);
    },
  );

  proofTest(
    "the API shows an edit with its conversation, even after a restart, and the metrics count it",
    async () => {
      const { edits, id, gateway } = await work({});
      const ask = async (url: string, path: string): Promise<ReturnType<typeof JSON.parse>> =>
        (await fetch(`${url}${path}`)).json();
      const { threads, totals } = await ask(gateway.url, "/api/v1/gateway");
      const shown = threads.find(({ session }: { readonly session: string }) => session === id).edits;
      expect(shown.map(({ text }: { readonly text: string }) => text)).toEqual(
        edits.toReversed().slice(0, 5),
      );
      expect(totals.edits).toBe(edits.length);
      const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
      expect(metrics).toContain(`longhaul_edits_total{api="anthropic"} ${edits.length}`);
      await gateway.close();
      const restarted = await startGateway({ upstream: "http://127.0.0.1:9", path: gateway.path });
      const { overlays } = await ask(
        restarted.url,
        `/api/v1/sessions/${encodeURIComponent(String(id))}/receipts?limit=1000`,
      );
      const kept = overlays.filter(({ type }: { readonly type: string }) => type === "plan");
      for (const [index, line] of edits.toReversed().entries()) {
        expect(line).toContain(`longhaul revert ${id} ${kept[index].seq}`);
        expect(line).toContain(`${formatTokens(kept[index].receipt.tokens.with)} tokens`);
      }
    },
  );

  proofTest("no edit happens below the threshold when edits are late", async () => {
    expect((await work({ when: "late" }, 4_000)).edits).toEqual([]);
  });

  proofTest("a dry run reports where an edit would have happened, and changes nothing", async () => {
    const { edits, notes } = await work({ dryRun: true });
    expect(edits[0]).toMatch(/^would have edited the window here: \S+ → \S+ tokens, /);
    expect(notes).toEqual([]);
  });

  test("the announcement of an edit gives its sizes and its price in a few words", () => {
    const sizes = { session: "local/a:b", tokensBefore: 52_300, tokensAfter: 11_200 };
    const edit = { ...sizes, isForced: false, thoughts: 0 };
    expect(formatAnnouncement({ ...edit, breakEvenCalls: 4, overlay: 9 })).toBe(
      "window edited: 52k → 11k tokens, estimated to pay after 4 calls, undo: longhaul revert local/a:b 9",
    );
    expect(formatAnnouncement({ ...edit, breakEvenCalls: 0 })).toContain("estimated to pay at once");
    expect(formatAnnouncement({ ...edit, breakEvenCalls: 0, thoughts: 12 })).toContain(
      "12 thinking blocks left",
    );
    expect([950, 9_700, 10_000, 200_000, 1_000_000].map(formatTokens)).toEqual([
      "950",
      "9.7k",
      "10k",
      "200k",
      "1M",
    ]);
  });
});

test("a request is one short line on a terminal, and nothing in that line can move the cursor", () => {
  const time = new Date(2026, 0, 1, 21, 18, 11);
  const summary = 'claude-code sonnet-4-5 9.7k/200k 200 38 ms "a\u001b[31m title"';
  expect(formatPrettyLine({ time, level: "info", event: "request", fields: { status: 200, summary } })).toBe(
    '21:18:11 claude-code sonnet-4-5 9.7k/200k 200 38 ms "a?[31m title"',
  );
});
