import { describe, expect, test } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import { testFolder } from "../support/folder.ts";
import { say } from "../support/kernel.ts";
import { proofTest } from "../support/proof.ts";
import { jsonHere, runHere } from "./support/here.ts";
import { runProgram } from "./support/program.ts";

async function storeOfTwo(): Promise<string> {
  const path = testFolder();
  // Each entry at its own time, because the newest version of a fact comes first.
  let now = Date.now() - 1_000;
  await using kernel = await openKernel({ path, clock: { now: () => now++ } });
  await say(
    await kernel.session("team-a/1"),
    "Which port does the staging server use?",
    "The staging server listens on port 7781.",
    "Thank you \u001b[31mvery much.",
  );
  await say(await kernel.session("team-b/1"), "The staging server of team b listens on port 9912.");
  await kernel.memories("support").remember("Staging is rebuilt every night.", { by: "agent" });
  return path;
}

/** A session with an edit and a commit, and another one that repeats a sentence of it. */
async function storeOfWork(): Promise<string> {
  const path = testFolder();
  await using kernel = await openKernel({ path });
  const session = await kernel.session("claude-code/4711", {
    title: "Logged out after the redirect",
    meta: { source: { format: "claude-code" }, claude: { cwd: "/repo/shop" } },
  });
  const use = (callId: string, name: string, input: { [name: string]: string }, output: string) =>
    [
      { role: "assistant", parts: [{ type: "tool-call", callId, name, input }] },
      { role: "tool", parts: [{ type: "tool-result", callId, output }] },
    ] as const;
  const edit = { file_path: "/repo/shop/src/login.ts", old_string: "redirect", new_string: "cookie" };
  const sentence = "I see. The quicksilver cookie was set too late.";
  await (await kernel.session("claude-code/4712")).append({ role: "assistant", text: sentence });
  for (const message of [
    { role: "user", text: "Users are logged out after the login redirect, please fix that." },
    ...use("1", "Edit", edit, "The login cookie comes before the redirect now"),
    { role: "assistant", text: sentence },
    ...use(
      "2",
      "Bash",
      { command: 'git commit -am "Set the cookie first"' },
      "[main 4f2a91c] Set the cookie first",
    ),
  ] as const)
    await session.append(message);
  return path;
}

describe("longhaul recall", () => {
  test("longhaul recall shows the session, likelihood, time, words and entry of each hit", async () => {
    const store = await storeOfTwo();
    const { stdout, code } = await runProgram(["recall", "port of the staging server", "--store", store]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^ 1 {2}team-[ab]\/1 {2}(?:very likely|likely|perhaps)\n {4}team-[ab] · \d{4}-\d\d-\d\d \d\d:\d\d, just now\n/,
    );
    expect(stdout).toContain("\n    The staging server listens on port 7781.\n    team-a/1#2, user\n");
    expect(stdout).toContain("port 9912");
    expect(stdout).not.toMatch(/score|\d\.\d\d/);
  });

  test("longhaul recall shows title, agent, project, files and commit of the work, and marks the words of the question in bold", async () => {
    const store = await storeOfWork();
    const args = ["recall", "quicksilver cookie", "--store", store];
    const { stdout } = await runHere(args);
    expect(stdout).toMatch(/^ 1 {2}Logged out after the redirect {2}\w+/);
    expect(stdout).toMatch(/\n {4}claude-code · shop · \d{4}-/);
    expect(stdout).toContain(
      "\n    I see. The quicksilver cookie was set too late.\n    claude-code/4711#4, assistant",
    );
    expect(stdout).toContain("\n    changed src/login.ts\n    commit 4f2a91c Set the cookie first\n");
    expect(stdout).toContain("also in claude-code/4712#1");
    const colored = await runHere(args, { isColored: true });
    expect(colored.stdout).toContain("The \u001b[1mquicksilver\u001b[22m \u001b[1mcookie\u001b[22m was set");
    const { value } = await jsonHere(args);
    expect(value.hits[0]).toMatchObject({
      score: expect.any(Number),
      copies: [{ entry: "claude-code/4712#1" }],
      details: { title: "Logged out after the redirect", work: { commit: { hash: "4f2a91c" } } },
    });
  });

  test("longhaul recall joins hits of the same work under one heading", async () => {
    const store = await storeOfWork();
    const { stdout } = await runHere(["recall", "cookie redirect login", "--store", store]);
    expect(stdout.match(/Logged out after the redirect {2}/g)).toHaveLength(1);
    expect(stdout).toMatch(/\n {4}and in #\d/);
  });

  test("longhaul recall --sessions lists sessions with numbers that other commands accept", async () => {
    const store = await storeOfWork();
    const args = ["recall", "set the quicksilver cookie", "--sessions", "--store", store];
    const { stdout } = await runHere(args, { columns: 200 });
    expect(stdout).toMatch(/^#\s+title\s+agent\s+project\s+date\s+match\s+best sentence\n1 {2}Logged out/);
    expect(stdout).toContain("The quicksilver cookie was set too late.");
    const { value } = await jsonHere(args);
    expect(value.sessions.map(({ session }: { session: string }) => session)).toEqual([
      "claude-code/4711",
      "claude-code/4712",
    ]);
    expect(value.sessions[0]).toMatchObject({ number: 1, score: expect.any(Number), project: "shop" });
    const shown = await runHere(["show", "1", "--store", store]);
    expect(shown.stdout).toContain("Users are logged out");
    for (const other of ["--expand", "--path=x"])
      expect((await runHere([...args, other])).stderr).toContain("cannot be combined");
  });

  test("longhaul recall accepts --careful, an option of earlier versions, and says that it has no effect", async () => {
    const store = await storeOfTwo();
    const args = ["recall", "staging server port", "--store", store];
    expect((await runHere([...args, "--careful"])).stdout).toContain("--careful has no effect");
    expect((await runHere(args)).stdout).not.toContain("--careful");
  });

  proofTest("longhaul recall searches only the given sessions, id prefixes, agents or paths", async () => {
    const store = await storeOfTwo();
    const found = async (...args: string[]) => {
      const { value } = await jsonHere(["recall", "staging server port", ...args, "--store", store]);
      return [...new Set(value.hits.map(({ session }: { session: string }) => session))];
    };
    expect(await found("--prefix", "team-a/")).toEqual(["team-a/1"]);
    expect(await found("--session", "team-b")).toEqual(["team-b/1"]);
    expect((await found("--session", "team-b", "--session", "team-a/1")).sort()).toEqual([
      "team-a/1",
      "team-b/1",
    ]);
    expect(await found("--agent", "support")).toEqual(["memory:support"]);
    expect(await found("--path", "/repo/nowhere")).toEqual([]);
  });

  proofTest(
    "longhaul recall --expand shows the messages around a hit, and escapes terminal codes",
    async () => {
      const store = await storeOfTwo();
      const args = ["recall", "listens on port 7781", "-k", "1", "--expand", "--store", store];
      const { stdout } = await runHere(args);
      expect(stdout).toContain("#1 user: Which port does the staging server use?");
      expect(stdout).toContain("#3 user: Thank you \\x1b[31mvery much.");
      const { value } = await jsonHere(args);
      expect(value.hits).toHaveLength(1);
      expect(value.hits[0]).toMatchObject({
        kind: "session",
        entry: "team-a/1#2",
        text: expect.stringContaining("7781"),
      });
      expect(value.hits[0].around.map(({ seq }: { seq: number }) => seq)).toEqual([1, 2, 3]);
    },
  );

  test("longhaul recall says how to fill an empty store", async () => {
    const store = testFolder();
    await (await openKernel({ path: store, embedder: null })).close();
    const args = ["recall", "qqqq", "--store", store];
    expect((await runHere(args)).stdout).toContain('the store is empty. "longhaul import"');
    expect((await runHere([...args, "--sessions"])).stdout).toContain(
      'the store is empty. "longhaul import"',
    );
    expect((await jsonHere(args)).value).toMatchObject({ hits: [], isEmpty: true });
  });

  test("longhaul recall does not call a store empty if its conversations only lack words", async () => {
    const store = testFolder();
    const kernel = await openKernel({ path: store, embedder: null });
    const session = await kernel.session("silent");
    await session.append({ role: "user", text: "…" });
    await kernel.close();
    const args = ["recall", "qqqq", "--store", store];
    expect((await runHere(args)).stdout).toBe("Nothing found.\n");
    expect((await jsonHere(args)).value.isEmpty).toBeUndefined();
  });

  proofTest("longhaul recall says if it finds nothing, or if the hits are uncertain", async () => {
    const store = await storeOfTwo();
    const nothing = await runHere(["recall", "qqqq", "--path", "/repo/nowhere", "--store", store]);
    expect(nothing.stdout).toContain("Nothing found.");
    const unsure = await runHere([
      "recall",
      "quarterly revenue of the Lisbon subsidiary server",
      "--store",
      store,
    ]);
    expect(unsure.stdout).toContain("Low confidence: the hits match little of the question.");
  });

  test("longhaul recall refuses an empty question, a wrong number and a missing store", async () => {
    const store = await storeOfTwo();
    for (const [args, code, words] of [
      [["--store", store], 2, "the question is missing"],
      [["x", "-k", "0", "--store", store], 2, "--limit"],
      [["x", "--session", "nobody", "--store", store], 1, "There is no session"],
      [["x", "--store", testFolder()], 1, "There is no store"],
    ] as const) {
      const ended = await runHere(["recall", ...args]);
      expect(ended.stderr).toContain(words);
      expect(ended.code).toBe(code);
    }
  });
});

test("decisions lists decisions newest first, by project, and as JSON", async () => {
  const store = testFolder();
  {
    await using kernel = await openKernel({ path: store, embedder: null });
    const session = await kernel.session("a", { meta: { cwd: "/projects/shop" } });
    await session.append({ role: "user", text: "We decided to keep login sessions in Redis." });
    await session.append({
      role: "user",
      text: "We decided to keep login sessions in memory, not in Redis.",
    });
  }
  const args = ["decisions", "shop", "--store", store];
  const { stdout } = await runHere(args);
  expect(stdout).toMatch(/choice {2}We decided to keep login sessions in memory[\s\S]*replaces: We decided/);
  const { value } = await jsonHere(args);
  expect(value.decisions.map(({ text }: { text: string }) => text)).toEqual([
    "We decided to keep login sessions in memory, not in Redis.",
    "We decided to keep login sessions in Redis.",
  ]);
  expect((await runHere(["decisions", "other", "--store", store])).stdout).toBe(
    "No decision was found for other.\n",
  );
  const asked = await runHere(["recall", "where do we keep login sessions", "--store", store]);
  expect(asked.stdout).toContain("replaces: We decided to keep login sessions in Redis.");
});

test("recall answers questions about work, and does not call the files of a fix unchanged", async () => {
  const store = testFolder();
  const error = "src/login.ts(41,7): error TS2304: Cannot find name 'sessionToken'.";
  {
    await using kernel = await openKernel({ path: store, embedder: null });
    const act = async (id: string, name: string, input: { [field: string]: string }, output: string) => {
      const session = await kernel.session(id);
      const callId = `${name} ${output}`;
      await session.append({ role: "assistant", parts: [{ type: "tool-call", callId, name, input }] });
      await session.append({ role: "tool", parts: [{ type: "tool-result", callId, output }] });
    };
    const edit = { file_path: "/shop/src/login.ts", old_string: "a", new_string: "b" };
    await act("a", "Bash", { command: "npx tsc --noEmit" }, error);
    await act("a", "Edit", edit, "ok");
    await act("a", "Bash", { command: "npx tsc --noEmit" }, "Done.");
    await act("b", "Edit", { ...edit, new_string: "c" }, "ok");
  }
  const { stdout } = await runHere(["recall", error, "--store", store]);
  expect(stdout).toContain("Fixed before: /shop/src/login.ts");
  expect(stdout).not.toContain("not changed since");
  for (const question of [
    ["fix", error],
    ["how", "npx tsc"],
    ["why", "src/login.ts"],
  ]) {
    const work = await runHere(["recall", ...question, "--store", store]);
    expect(work, question[0]).toMatchObject({ code: 0, stderr: "" });
    expect(work.stdout).toContain(question[0] === "how" ? "npx tsc" : "/shop/src/login.ts");
  }
});
