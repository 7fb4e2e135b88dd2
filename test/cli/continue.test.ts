import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { CONTINUED_AGENTS } from "../../src/histories/index.ts";
import { openKernel } from "../../src/kernel/index.ts";
import { testFolder } from "../support/folder.ts";
import { conversationId, writeConversation } from "./support/conversation.ts";
import { jsonHere, runHere } from "./support/here.ts";

async function importOne(turns = 3) {
  const home = testFolder();
  const path = writeConversation(home, 1, turns);
  const screen = { env: { HOME: home }, home };
  const store = join(testFolder(), "store");
  const here = async (...args: readonly string[]) =>
    (await jsonHere([...args, "--store", store], screen)).value;
  await here("import", "--yes", "--no-index");
  return { home, path, store, screen, here };
}

describe("longhaul continue", () => {
  test("longhaul continue restores a deleted conversation byte for byte, and prints the command that resumes it", async () => {
    const { path, here } = await importOne();
    const bytes = readFileSync(path);
    rmSync(path);
    const value = await here("continue", "last");
    expect(value).toMatchObject({
      agent: "claude-code",
      isOriginal: true,
      files: [path],
      command: `cd /project && claude --resume ${conversationId(1)}`,
    });
    expect(readFileSync(path)).toEqual(bytes);
    expect(await here("import", "--yes", "--no-index")).toMatchObject({
      totals: { added: { messages: 0, raw: 0 } },
    });
  });

  test("longhaul continue restores messages that were appended between two imports", async () => {
    const { path, here } = await importOne();
    appendFileSync(path, '{"type":"summary","summary":"grüße","leafUuid":"x"}\n');
    utimesSync(path, new Date(), new Date(Date.now() + 5_000));
    await here("import", "--yes", "--no-index");
    const bytes = readFileSync(path);
    rmSync(path);
    await here("continue", "last");
    expect(readFileSync(path)).toEqual(bytes);
  });

  test("longhaul continue restores no words that were forgotten, and no later import keeps them", async () => {
    const { path, store, here } = await importOne();
    const grow = async (words: string, uuid: string) => {
      const [line = ""] = readFileSync(path, "utf8").split("\n");
      const message = { role: "user", content: words };
      appendFileSync(path, `${JSON.stringify({ ...JSON.parse(line), uuid, message })}\n`);
      utimesSync(path, new Date(), new Date(Date.now() + 5_000 * uuid.length));
      await here("import", "--yes", "--no-index");
    };
    await grow("The vault opens with heronfold turns.", "a");
    const { entries } = await here("show", "last", "--all");
    const { id } = entries.find((entry: object) => JSON.stringify(entry).includes("heronfold"));
    expect(await here("forget", id, "--yes")).toMatchObject({ forgotten: [{ kind: "entry", file: path }] });
    await grow("And the cellar with quillmarch turns.", "bb");
    rmSync(path);
    expect(await here("continue", "last")).toMatchObject({ isOriginal: false });
    const [written = ""] = readdirSync(dirname(path)).filter((name) => name.endsWith(".jsonl"));
    const restored = readFileSync(join(dirname(path), written), "utf8");
    expect(restored).toContain("quillmarch");
    expect(restored).not.toContain("heronfold");
    await using kernel = await openKernel({ path: store, embedder: null });
    await using session = await kernel.session(id.split("#")[0]);
    expect(await session.read({ from: 1, limit: 10, kinds: ["raw"] })).toEqual([]);
  });

  test("longhaul forget names the file in which an agent still has the conversation", async () => {
    const { path, store, screen } = await importOne();
    const { value } = await jsonHere(["sessions", "--store", store], screen);
    const args = ["forget", value.sessions[0].id, "--yes", "--store", store];
    expect((await runHere(args, screen)).stdout).toContain(
      `Its agent still has it in ${path}; imports leave it out until its agent writes to it again.`,
    );
    const imported = await runHere(["import", path, "--store", store], screen);
    expect(imported.stdout).toContain("1 forgotten here and left out (--forgotten imports them)");
    expect((await jsonHere(["sessions", "--store", store], screen)).value.sessions).toEqual([]);
    await runHere(["import", path, "--forgotten", "--store", store], screen);
    expect((await jsonHere(["sessions", "--store", store], screen)).value.sessions).toHaveLength(1);
  });

  test("longhaul continue never overwrites a file that differs, and writes nothing where the agent still has the conversation", async () => {
    const { path, store, screen, here } = await importOne();
    expect(await here("continue", "last")).toMatchObject({ files: [] });
    appendFileSync(path, "{}\n");
    const before = readFileSync(path);
    const { code, stderr } = await runHere(["continue", "last", "--store", store], screen);
    expect([code, stderr]).toEqual([1, expect.stringContaining("already exists; it stays as it is")]);
    expect(readFileSync(path)).toEqual(before);
  });

  test("longhaul continue writes all files of a conversation or none, and replaces no folder", async () => {
    const { path, store, screen, here } = await importOne();
    const family = path.slice(0, -".jsonl".length);
    mkdirSync(join(family, "subagents"), { recursive: true });
    const line = readFileSync(path, "utf8").split("\n")[0] ?? "";
    const agent = { ...JSON.parse(line), uuid: "s1", parentUuid: null, isSidechain: true, agentId: "x1" };
    writeFileSync(join(family, "subagents", "agent-x1.jsonl"), `${JSON.stringify(agent)}\n`);
    await here("import", "--yes", "--no-index");
    rmSync(path);
    rmSync(family, { recursive: true });
    // Where the folder of the sub-agents belongs, there is a file now.
    writeFileSync(family, "");
    expect((await runHere(["continue", "last", "--store", store], screen)).code).toBe(1);
    expect(existsSync(path)).toBe(false);
    rmSync(family);
    mkdirSync(path);
    const { code, stderr } = await runHere(["continue", "last", "--store", store], screen);
    expect([code, stderr]).toEqual([1, expect.stringContaining("already exists")]);
    rmSync(path, { recursive: true });
    expect((await here("continue", "last")).files).toHaveLength(2);
  });

  test.each(CONTINUED_AGENTS.filter((agent) => agent !== "claude-code" && agent !== "opencode"))(
    "a copy for %s is no second conversation, and brings no forgotten words back",
    async (agent) => {
      const { store, screen, here } = await importOne();
      const before = (await here("sessions")).sessions.length;
      const { files } = await here("continue", "last", "--in", agent);
      const again = await here("import", "--yes", "--no-index");
      expect(again.totals.added).toMatchObject({ messages: 0, raw: 0 });
      expect((await here("sessions")).sessions).toHaveLength(before);
      const [{ id }] = (await here("sessions")).sessions;
      const forgotten = await runHere(["forget", `${id}#2`, "--yes", "--store", store], screen);
      expect(forgotten.stdout).toContain("A copy of it is in ");
      await here("import", "--yes", "--no-index");
      expect((await here("sessions")).sessions).toHaveLength(before);
      await runHere(["forget", id, "--yes", "--store", store], screen);
      rmSync(files[0] ?? "", { force: true });
      await here("import", "--yes", "--no-index");
      expect((await here("sessions")).sessions).toHaveLength(0);
    },
  );

  test("what an agent adds to a copy continues the conversation that was copied", async () => {
    const { here } = await importOne();
    const [{ id }] = (await here("sessions")).sessions;
    const before = (await here("show", id, "--all")).entries.length;
    const { files } = await here("continue", "last", "--in", "codex");
    const [path] = files;
    const at = new Date(Date.now() + 60_000);
    const say = (role: string, type: string, text: string) => {
      const payload = { type: "message", role, content: [{ type, text }] };
      appendFileSync(
        path,
        `${JSON.stringify({ timestamp: at.toISOString(), type: "response_item", payload })}\n`,
      );
    };
    say("user", "input_text", "Where do we go from here with the quillmarch?");
    say("assistant", "output_text", "To the heronfold.");
    utimesSync(path, at, at);
    const { totals } = await here("import", "--yes", "--no-index");
    expect(totals.added.messages).toBe(2);
    const { sessions } = await here("sessions");
    expect(sessions.map((one: { id: string }) => one.id)).toEqual([id]);
    const entries = (await here("show", id, "--all")).entries;
    expect(entries.length).toBeGreaterThan(before);
    expect(JSON.stringify(entries.slice(-3))).toContain("heronfold");
    expect(JSON.stringify((await here("show", id)).entries)).toContain("quillmarch");
  });

  test("longhaul continue --deleted restores all deleted conversations, and --dry-run lists them first", async () => {
    const { path, here } = await importOne();
    expect(await here("continue", "--deleted")).toMatchObject({ written: [] });
    rmSync(path);
    expect(await here("continue", "--deleted", "--dry-run")).toMatchObject({ written: [{ files: [path] }] });
    expect(existsSync(path)).toBe(false);
    await here("continue", "--deleted");
    expect(existsSync(path)).toBe(true);
  });

  test("longhaul status counts a restored conversation as stored, whatever the time of its new file", async () => {
    const { path, here } = await importOne();
    const earlier = new Date(Date.now() - 3_600_000);
    utimesSync(path, earlier, earlier);
    await here("import", "--yes", "--no-index");
    rmSync(path);
    await here("continue", "--deleted");
    const { histories } = await here("status");
    expect(histories).toMatchObject([{ agent: "claude-code", conversations: 1, notStored: 0 }]);
  });

  test.each(CONTINUED_AGENTS.filter((agent) => agent !== "claude-code"))(
    "longhaul continue --in %s keeps words and calls",
    async (agent) => {
      const { home, here } = await importOne();
      const { files, command } = await here("continue", "last", "--in", agent);
      expect(command).toContain("cd /project && ");
      for (const path of files) expect(path.startsWith(home)).toBe(true);
      // Files of a task are imported by their folder.
      const paths = agent === "cline" ? [dirname(files[0])] : files;
      const other = join(testFolder(), "other");
      const screen = { env: { HOME: home }, home };
      const { value } = await jsonHere(["import", ...paths, "--no-index", "--store", other], screen);
      expect(value).toMatchObject({ formats: { [agent]: { sources: 1 } }, problems: [] });
      const { stdout } = await runHere(["export", "last", "--to", "markdown", "--store", other], screen);
      for (const words of ["question 0", "answer 0", "question 2", "answer 2", "notes.md"])
        expect(stdout).toContain(words);
    },
  );

  test("longhaul continue --in opencode uses a model of its configuration, and links each answer to its question", async () => {
    const { home, here } = await importOne();
    expect((await here("continue", "last", "--in", "opencode")).notes.join()).toContain("names no model yet");
    const config = join(home, ".config", "opencode");
    mkdirSync(config, { recursive: true });
    const provider = { mine: { models: { "small-one": {} } } };
    writeFileSync(join(config, "opencode.json"), JSON.stringify({ provider }));
    const { files, notes } = await here("continue", "last", "--in", "opencode");
    const { messages } = JSON.parse(readFileSync(files[0], "utf8"));
    const model = { providerID: "mine", modelID: "small-one" };
    expect(messages[0].info).toMatchObject({ role: "user", model });
    expect(messages[1].info).toMatchObject({ role: "assistant", ...model, parentID: messages[0].info.id });
    expect(notes.join()).not.toContain("model");
  });

  test("longhaul continue refuses wrong arguments before it writes anything", async () => {
    const { store, screen } = await importOne();
    const refuse = async (...args: readonly string[]) =>
      (await runHere(["continue", ...args, "--store", store], screen)).code;
    expect(await refuse()).toBe(2);
    expect(await refuse("last", "--deleted")).toBe(2);
    expect(await refuse("last", "--whole")).toBe(2);
    expect(await refuse("last", "--in", "emacs")).toBe(2);
    expect(await refuse("no-such-session")).toBe(1);
  });
});
