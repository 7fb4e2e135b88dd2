import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import { testFolder } from "../support/folder.ts";
import { proofTest } from "../support/proof.ts";
import { jsonHere, runHere } from "./support/here.ts";
import { storeWith, storeWithCut } from "./support/long-session.ts";
import { runProgram, startProgram } from "./support/program.ts";
import { PNG, storeWithTicket } from "./support/store.ts";

describe("longhaul show", () => {
  test("longhaul show wraps text between words to the width of the terminal, but not in a pipe", async () => {
    const text = `${"seven words about the ships and harbors ".repeat(8)}end`;
    const store = await storeWith("long", (session) => session.append({ role: "user", text }));
    const { stdout } = await runHere(["show", "long", "--store", store], { columns: 60 });
    const lines = stdout.split("\n");
    expect(lines.every((line) => line.length <= 60)).toBe(true);
    expect(lines.join(" ")).toContain(text);
    expect((await runHere(["show", "long", "--store", store])).stdout).toContain(text);
  });

  test("longhaul show prints each speaker, calls on one line, results in brief, and media by type and size", async () => {
    const { code, stdout } = await runProgram(["show", "ticket-4711", "--store", await storeWithTicket()]);
    expect(code).toBe(0);
    const shown = stdout.replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, "<time>");
    expect(shown).toBe(`Fix the flaky test
ticket-4711  started <time>  7 entries
child ticket-4711/explorer Look around

system  <time>  #1
Be thorough.

user  <time>  #2
Why does it fail?

assistant  model-1  <time>  #3
  Perhaps the clock.
I look at it.
→ read_file path=login.test.ts limit=20

tool  <time>  #4
← read_file
  line 1
  line 2
  line 3
  line 4
  line 5
  line 6
  line 7
  line 8
  … 22 more lines

user  <time>  #5
[image/png ${PNG.length} B 6b7fa434f92a screen.png]
· #6 note: The window was compacted.

assistant  <time>  #7
It waits for a server.
`);
  });

  test("longhaul show shows results in full on request", async () => {
    const store = await storeWithTicket();
    const { stdout } = await runHere(["show", "ticket-4711", "--full", "--store", store]);
    expect(stdout).toContain("line 30");
    expect(stdout).not.toContain("more lines");
  });

  test("longhaul show escapes all terminal codes", async () => {
    const path = testFolder();
    const evil = "\u001b[2J\u009b31m\u0007\u202e\r\u007fhidden";
    {
      await using kernel = await openKernel({ path });
      const session = await kernel.session("s", { title: evil });
      await session.append({ role: "user", text: evil });
      await session.append({
        role: "assistant",
        model: evil,
        parts: [
          { type: "reasoning", text: evil },
          { type: "tool-call", callId: evil, name: evil, input: { [evil]: evil } },
          { type: "raw", format: evil, value: evil },
        ],
      });
      await session.append({ role: "tool", parts: [{ type: "tool-result", callId: evil, output: evil }] });
      await session.append({ role: "user", parts: [{ type: "data", data: PNG, name: evil }] });
      await session.note(evil);
      await session.redact(1, evil);
    }
    for (const options of [[], ["--full"], ["--raw"], ["--json"]]) {
      const { code, stdout } = await runHere(["show", "s", "--store", path, ...options]);
      expect(code).toBe(0);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for control characters
      expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
      expect(stdout).toContain("hidden");
    }
  });

  test("longhaul show accepts the beginning or end of an id where it is unique", async () => {
    const store = await storeWithTicket();
    for (const [piece, id] of [
      ["tick", "ticket-4711"],
      ["4711", "ticket-4711"],
      ["explor", "ticket-4711/explorer"],
    ]) {
      const { value } = await jsonHere(["show", piece as string, "--store", store]);
      expect(value.session.id).toBe(id);
    }
  });

  test("longhaul show lists the candidates of an ambiguous part and the ids nearest to an unknown id", async () => {
    const path = testFolder();
    {
      await using kernel = await openKernel({ path });
      for (const id of ["alpha-1", "alpha-2", "beta-1"]) await kernel.session(id);
    }
    const ambiguous = await runHere(["show", "alpha", "--store", path]);
    expect(ambiguous.code).toBe(2);
    expect(ambiguous.stderr).toBe(
      'longhaul: "alpha" matches several sessions: alpha-2, alpha-1. Give more of the id.\n',
    );
    const unknown = await jsonHere(["show", "bata-1", "--store", path]);
    expect(unknown.code).toBe(1);
    expect(unknown.value.error).toMatchObject({
      code: "SESSION_NOT_FOUND",
      message: 'There is no session "bata-1". Did you mean beta-1?',
    });
    await using kernel = await openKernel({ path });
    expect(await kernel.sessions()).toHaveLength(3);
  });

  proofTest(
    "longhaul show pages back by cursor to the first message, and --all shows everything",
    async () => {
      const path = testFolder();
      const words = Array.from({ length: 450 }, (_, index) => `word ${index}`);
      {
        await using kernel = await openKernel({ path });
        await using session = await kernel.session("long");
        await session.appendAll(words.map((text) => ({ role: "user", text })));
      }
      const textsOf = (value: { entries: { message: { parts: { text: string }[] } }[] }) =>
        value.entries.map(({ message }) => message.parts[0]?.text);
      const found: unknown[] = [];
      let before: string | undefined;
      do {
        const cursor: readonly string[] = before === undefined ? [] : ["--before", before];
        const { value } = await jsonHere(["show", "long", "--limit", "200", "--store", path, ...cursor]);
        found.unshift(...textsOf(value));
        before = value.before;
      } while (before !== undefined);
      expect(found).toEqual(words);
      const all = await jsonHere(["show", "long", "--all", "--store", path]);
      expect(textsOf(all.value)).toEqual(words);
      const around = await jsonHere(["show", "long", "--around", "100", "--limit", "4", "--store", path]);
      expect(textsOf(around.value)).toEqual(["word 97", "word 98", "word 99", "word 100"]);
      const wrong = await runHere(["show", "long", "--before", "nonsense", "--store", path]);
      expect(wrong.code).toBe(2);
      expect(wrong.stderr).toContain('before is "nonsense"; expected a cursor from an earlier page');
    },
  );

  test("longhaul show prints the active line: a fork with its shared messages, and nothing of an empty session", async () => {
    const path = testFolder();
    {
      await using kernel = await openKernel({ path });
      await using trunk = await kernel.session("trunk");
      for (const text of ["one", "two", "three"]) await trunk.append({ role: "user", text });
      await using fork = await trunk.fork({ id: "fork", at: 2 });
      await fork.append({ role: "user", text: "other" });
      await kernel.session("empty");
    }
    const fork = await runHere(["show", "fork", "--all", "-q", "--store", path]);
    expect(fork.stdout.split("\n").filter((line) => /^[a-z]+$/.test(line))).toEqual(["one", "two", "other"]);
    expect((await jsonHere(["show", "empty", "--all", "--store", path])).value.entries).toEqual([]);
  });

  proofTest("longhaul show marks in the conversation where messages were cut, how much and why", async () => {
    const { store, overlay } = await storeWithCut();
    const { stdout } = await runHere(["show", "long", "--limit", "3", "--store", store]);
    expect(stdout).toMatch(
      new RegExp(
        `^· #${overlay} window: [\\d,]+ → [\\d,]+ tokens, \\d+ messages removed, longhaul rebuilt the window \\(.+\\)$`,
        "m",
      ),
    );
  });

  test("longhaul show --follow prints new messages until it is interrupted", async () => {
    const store = await storeWithTicket();
    const running = startProgram(["show", "ticket-4711", "--follow", "--limit", "1", "--store", store]);
    await running.says("It waits for a server.");
    await using kernel = await openKernel({ path: store });
    await using session = await kernel.session("ticket-4711");
    await session.append({ role: "user", text: "Then start it." });
    await running.says("Then start it.");
    running.process.kill("SIGINT");
    const { code, stdout, stderr } = await running.ended;
    expect(code).toBe(130);
    expect(stderr).toBe("");
    expect(stdout.split("Then start it.")).toHaveLength(2);
  });

  test("longhaul show --follow --json prints JSON lines", async () => {
    const store = await storeWithTicket();
    const running = startProgram([
      "show",
      "ticket-4711",
      "--follow",
      "--limit",
      "2",
      "--json",
      "--store",
      store,
    ]);
    await running.says('"seq":7');
    running.process.kill("SIGINT");
    const { stdout } = await running.ended;
    const entries = stdout.trim().split("\n");
    expect(entries.map((line) => JSON.parse(line).seq)).toEqual([6, 7]);
  });

  test("longhaul show --full prints large parts, and reports damaged ones", async () => {
    const path = testFolder();
    {
      await using kernel = await openKernel({ path });
      await using session = await kernel.session("large");
      await session.append({ role: "user", text: `${"x".repeat(200_000)}the end` });
    }
    const brief = await runHere(["show", "large", "--store", path]);
    expect(brief.stdout).toContain("[200 KB in total; --full shows it]");
    const full = await runHere(["show", "large", "--full", "--store", path]);
    expect(full.code).toBe(0);
    expect(full.stdout).toContain("xthe end");
    for (const name of readdirSync(join(path, "blobs")))
      rmSync(join(path, "blobs", name), { recursive: true });
    const damaged = await runHere(["show", "large", "--full", "--store", path]);
    expect(damaged.code).toBe(3);
    expect(damaged.stderr).toContain("longhaul: ");
    expect(damaged.stdout).toContain("[200 KB in total");
  });
});
