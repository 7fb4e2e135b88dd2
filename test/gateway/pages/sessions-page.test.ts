import { describe, expect, test } from "vitest";
import type { Kernel } from "../../../src/index.ts";
import { proofTest } from "../../support/proof.ts";
import { servePages } from "./support/served.ts";

async function say(kernel: Kernel, id: string, turns: number): Promise<void> {
  await using session = await kernel.session(id, { title: `Title of ${id}` });
  for (let turn = 1; turn <= turns; turn++) {
    await session.append({ role: "user", text: `question ${turn} about harbour-${id}` });
    await session.append({
      role: "assistant",
      model: "claude-sonnet-4-5",
      text: `answer ${turn}: the port is 77${turn}`,
    });
  }
}

describe("/api/sessions", () => {
  test("lists sessions, newest first, page by page", async () => {
    const { kernel, json } = await servePages();
    for (const id of ["a", "b", "c"]) await say(kernel, id, 1);
    const first = await json("/api/sessions?limit=2");
    expect(first.body.sessions.map(({ id }: { id: string }) => id)).toEqual(["c", "b"]);
    expect(first.body.sessions[0]).toMatchObject({ title: "Title of c", entries: 2 });
    const second = await json(`/api/sessions?limit=2&before=${first.body.before}`);
    expect(second.body.sessions.map(({ id }: { id: string }) => id)).toEqual(["a"]);
    expect(second.body.before).toBeUndefined();
  });

  test("shows one with its window, its overlays and the newest entries, whatever its id looks like", async () => {
    const { kernel, json } = await servePages();
    await say(kernel, "claude-code/x y", 3);
    for (const path of [
      "/api/sessions/claude-code%2Fx%20y?limit=2",
      "/api/sessions/claude-code/x%20y?limit=2",
    ]) {
      const { status, body } = await json(path);
      expect(status).toBe(200);
      expect(body).toMatchObject({ model: "claude-sonnet-4-5", overlays: [], session: { entries: 6 } });
      expect(body.window.tokens).toBeGreaterThan(10);
      expect(body.window.messages).toBe(6);
      expect(body.entries).toHaveLength(2);
      const older = await json(`${path}&before=${encodeURIComponent(body.before)}`);
      expect(older.body.entries.at(-1).seq).toBe(body.entries[0].seq - 1);
    }
  });

  test("shows a reader only what is theirs, and does not tell what else there is", async () => {
    const { kernel, json } = await servePages();
    for (const id of ["a/1", "b/1"]) await say(kernel, id, 1);
    const reader = { headers: { "x-reader": "a/" } };
    expect((await json("/api/sessions", reader)).body.sessions).toHaveLength(1);
    const other = await json("/api/sessions/b%2F1", reader);
    const none = await json("/api/sessions/b%2F2", reader);
    expect(other.status).toBe(404);
    expect(other.body.error.message.replace("b/1", "b/2")).toBe(none.body.error.message);
    expect((await json("/api/sessions?before=b%2F1", reader)).status).toBe(404);
    expect((await json("/api/replay/b%2F1", reader)).status).toBe(404);
    const hits = (await json("/api/recall?q=harbour&prefix=b", reader)).body.hits;
    expect(hits.every(({ session }: { session: string }) => session === "a/1")).toBe(true);
    expect((await json("/api/recall?q=harbour&session=b%2F1", reader)).body.hits).toEqual([]);
    expect((await json("/api/import", { ...reader, method: "POST" })).status).toBe(403);
  });

  test.each([
    ["/api/sessions?limit=0", 400],
    ["/api/sessions?limit=1e9", 400],
    ["/api/sessions?before=nobody", 404],
    ["/api/sessions/nobody", 404],
    ["/api/sessions/%E0%A4%A", 400],
    [`/api/sessions/${"x".repeat(3_000)}`, 400],
    ["/api/replay/", 400],
    ["/api/replay/nobody", 404],
    ["/api/recall", 400],
    ["/api/recall?q=%20", 400],
    [`/api/recall?q=${"x".repeat(4_001)}`, 400],
    ["/api/recall?q=x&k=1000", 400],
  ])("%s is answered with %i and a reason", async (path, status) => {
    const answer = await (await servePages()).json(path);
    expect(answer.status).toBe(status);
    expect(answer.body.error).toMatchObject({
      code: expect.stringMatching(/^[A-Z_]+$/),
      message: expect.any(String),
    });
  });
});

describe("/api/recall", () => {
  test("finds what was said and cites it", async () => {
    const { kernel, json } = await servePages();
    await say(kernel, "ticket", 3);
    const { body } = await json("/api/recall?q=which%20port%20answer%202&k=2");
    expect(body.hits.length).toBeLessThanOrEqual(2);
    expect(body.hits[0]).toMatchObject({ session: "ticket", text: expect.stringContaining("port is 77") });
    expect(body.hits[0].entry).toMatch(/^ticket#\d+$/);
    const { likelihood, sentence, work } = body.hits[0].details;
    expect(likelihood).toMatch(/likely|perhaps/);
    expect(body.hits[0].text.slice(sentence.from, sentence.to)).toContain("port");
    expect(work).toMatchObject({ changedFiles: [], readFiles: [] });
  });
});

describe("/api/replay", () => {
  proofTest("tells what each policy would have cost and kept, beside no bounds at all", async () => {
    const { kernel, json } = await servePages();
    await say(kernel, "ticket", 5);
    const { body } = await json("/api/replay/ticket?window=32000");
    expect(body).toMatchObject({ session: "ticket", window: 32_000, messages: 10 });
    expect(body.policies.map(({ policy }: { policy: string }) => policy)).toContain("longhaul");
    for (const { costShare, identifiers } of body.policies) {
      expect(costShare).toBeCloseTo(1);
      expect(identifiers).toBe(1);
    }
    const one = await json("/api/replay/ticket?policy=cline");
    expect(one.body.policies).toHaveLength(1);
    expect((await json("/api/replay/ticket?policy=clime")).body.error.message).toContain(
      "expected one of longhaul",
    );
  });

  proofTest("sends those who want a long one to the command line, and lets only one run", async () => {
    const { kernel, json } = await servePages();
    await say(kernel, "ticket", 5);
    await using session = await kernel.session("long");
    await session.appendAll(
      Array.from({ length: 2_001 }, (_, at) => ({ role: "user" as const, text: `${at}` })),
    );
    expect((await json("/api/replay/long")).body.error).toMatchObject({ code: "REPLAY_TOO_LONG" });
    const answers = await Promise.all([1, 2, 3].map(() => json("/api/replay/ticket")));
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(1);
    for (const { status, body } of answers) if (status !== 200) expect(body.error.code).toBe("JOB_BUSY");
    expect((await json("/api/replay/ticket")).status).toBe(200);
  });
});
