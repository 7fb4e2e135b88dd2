import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { beforeAll, describe, expect, test } from "vitest";
import { type Kernel, openKernel } from "../../../src/kernel/index.ts";
import { findFenceAt } from "../../../src/model/base/fence.ts";
import { connectHttp, ERAS, serveEndpoint, type TestClient } from "./connected.ts";

const QUERY = "how many turns open the vault of the cellar";

/** A store with conversations of two projects. */
async function fillKernel(kernel: Kernel): Promise<void> {
  const add = async (id: string, cwd: string, ...texts: string[]) => {
    await using session = await kernel.session(id, { title: `about ${id}`, meta: { facts: { cwd } } });
    for (const text of texts) await session.append({ role: "user", text });
  };
  await add(
    "claude-code/web",
    "/repo/web",
    "Good morning.",
    "The vault of the cellar opens with 4417 turns.",
  );
  await add("claude-code/game", "/repo/game", "The vault of the cellar in the game opens with 8820 turns.");
}

let kernel: Kernel;
beforeAll(async () => {
  kernel = await openKernel({ path: ":memory:" });
  await fillKernel(kernel);
  return () => kernel.close();
});

async function open(era: "2025" | "2026"): Promise<TestClient> {
  return connectHttp(await serveEndpoint(kernel, { projects: ["/repo/web"] }), { era });
}

test("a recall names the conversation, the project and the files of its best hits", async () => {
  await using own = await openKernel({ path: ":memory:", embedder: null });
  await using session = await own.session("claude-code/fix", {
    title: "Repair the vault",
    meta: { "claude-code": { cwd: "/repo/web" } },
  });
  await session.append({ role: "user", text: "The vault of the cellar does not open, repair it." });
  const input = { file_path: "/repo/web/src/vault.ts", old_string: "a", new_string: "b" };
  await session.append({
    role: "assistant",
    parts: [{ type: "tool-call", callId: "c1", name: "Edit", input }],
  });
  await session.append({
    role: "tool",
    parts: [{ type: "tool-result", callId: "c1", name: "Edit", output: "edited" }],
  });
  const { call } = await connectHttp(await serveEndpoint(own), { era: "2026" });
  const { text } = await call("recall", { query: "repair the vault of the cellar" });
  expect(text).toContain('in "Repair the vault"');
  expect(text).toMatch(/changed (?:\S*\/)?src\/vault\.ts/);
  expect(text).toMatch(/claude-code\/fix#1, user, .*(?:likely|perhaps): The vault of the cellar/);
});

test("a recall over an empty store says how to fill it", async () => {
  await using own = await openKernel({ path: ":memory:", embedder: null });
  const { call } = await connectHttp(await serveEndpoint(own), { era: "2026" });
  expect((await call("recall", { query: "the vault" })).text).toMatch(
    /^Nothing was found: .*"longhaul import"/,
  );
  await using session = await own.session("claude-code/one");
  await session.append({ role: "user", text: "Good morning." });
  expect((await call("recall", { query: "xylophone" })).text).not.toContain("longhaul import");
});

test("the list of tools is small and always the same", async () => {
  const lists: unknown[] = [];
  for (const era of ERAS) {
    const { client } = await connectHttp(await serveEndpoint(kernel), { era });
    const { tools } = await client.listTools();
    lists.push(tools.map(({ name, inputSchema, annotations }) => [name, inputSchema, annotations]));
    expect(tools.map(({ name }) => name)).toEqual(["recall", "expand", "remember", "forget", "sessions"]);
    expect(countTokens(JSON.stringify(tools))).toBeLessThanOrEqual(1_500);
    for (const { outputSchema, annotations } of tools) {
      expect(outputSchema?.properties).toHaveProperty("text");
      expect(annotations).toMatchObject({ openWorldHint: false, readOnlyHint: expect.any(Boolean) });
    }
  }
  expect(lists[0]).toEqual(lists[1]);
  const { client } = await connectHttp(await serveEndpoint(kernel, {}, { tools: "all" }), { era: "2026" });
  const { tools } = await client.listTools();
  expect(tools.slice(5).map(({ name }) => name)).toEqual(["context", "compact", "pins", "tasks"]);
});

describe.each(ERAS)("a client of %s", (era) => {
  test("a recall lists the project's own conversations first and says what it left out", async () => {
    const { call } = await open(era);
    const { text } = await call("recall", { query: QUERY });
    expect(text).toContain("claude-code/web#2");
    expect(text).toContain("4417");
    expect(text).not.toContain("8820");
    expect(text).toContain('Left out: 1 conversation of other projects; where: "everywhere" includes them.');
    const everywhere = await call("recall", { query: QUERY, where: "everywhere" });
    expect(everywhere.text).toContain("8820");
    expect(everywhere.text).not.toContain("Left out");
  });

  test("recalled text comes between fences that the text cannot forge", async () => {
    const { call } = await open(era);
    const { text } = await call("recall", { query: QUERY });
    const lines = text.split("\n");
    const at = lines.findIndex((line) => line.startsWith("<memory-data"));
    expect(findFenceAt("memory-data", lines, at)?.inside[0]).toContain("4417");
  });

  test("a client expands a citation to the exact words with their neighbors", async () => {
    const { call } = await open(era);
    const { text } = await call("expand", { cite: "claude-code/web#2", around: 1 });
    expect(text).toContain("| The vault of the cellar opens with 4417 turns.");
    expect(text).toContain("| Good morning.");
    expect((await call("expand", { cite: "claude-code/web#2", around: 0 })).text).not.toContain(
      "Good morning",
    );
    expect((await call("expand", { cite: "nowhere#2" })).text).toBe("There is no entry nowhere#2.");
  });

  test("a client remembers a fact that recall finds, and forgets it after a confirmation", async () => {
    const { call } = await open(era);
    const saved = await call("remember", { text: `The staging server of ${era} listens on 8443.` });
    const cite = /memory:default#\d+/.exec(saved.text)?.[0] ?? "";
    expect(saved.text).toBe(`Remembered as ${cite}.`);
    expect((await call("recall", { query: "port of the staging server" })).text).toContain("8443");
    const dry = await call("forget", { cite });
    expect(dry.text).toContain("8443");
    expect((await call("recall", { query: "port of the staging server" })).text).toContain("8443");
    const wrong = await call("forget", { cite, confirm: "0123456789" });
    expect(wrong).toMatchObject({ isError: true });
    const code = /confirm ([0-9a-f]+)/.exec(dry.text)?.[1];
    expect((await call("forget", { cite: "claude-code/web#1", confirm: code })).isError).toBe(true);
    expect((await call("forget", { cite, confirm: code })).text).toBe(`Forgotten: ${cite}.`);
    expect((await call("recall", { query: "port of the staging server" })).text).not.toContain("8443");
  });

  test("a client lists conversations and reads them and their summaries as resources", async () => {
    const { call, client } = await open(era);
    const { text } = await call("sessions");
    expect(text).toMatch(/claude-code\/web · \d{4}-\d\d-\d\d · claude-code · web · about claude-code\/web/);
    expect(text).not.toContain("claude-code/game");
    expect((await call("sessions", { where: "everywhere" })).text).toContain("claude-code/game");
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(["longhaul://session/claude-code%2Fweb"]);
    const read = async (uri: string) => {
      const [first] = (await client.readResource({ uri })).contents;
      return first && "text" in first ? first.text : "";
    };
    expect(await read("longhaul://session/claude-code%2Fweb")).toContain("| Good morning.");
    const later = await read("longhaul://session/claude-code%2Fweb?from=2&to=2");
    expect(later).toContain("4417");
    expect(later).not.toContain("Good morning");
    expect(await read("longhaul://session/claude-code%2Fweb/summaries")).toBe("There are no summaries.");
    await expect(read("longhaul://session/nowhere")).rejects.toThrow(/not found/i);
  });

  test("prompts show a context and preview a summary", async () => {
    const { client } = await open(era);
    const show = async (name: string, args = {}) =>
      JSON.stringify(await client.getPrompt({ name, arguments: args }));
    expect(await show("context")).toContain("Conversation claude-code/web");
    expect(await show("compact", { session: "claude-code/web" })).toContain("longhaul compact");
    expect(await show("context", { session: "nowhere" })).toContain("There is no conversation");
  });

  test("an invalid argument gets an error that names the problem", async () => {
    const { call } = await open(era);
    expect(await call("recall", { query: "" })).toMatchObject({ isError: true });
    expect(await call("recall", { query: QUERY, cursor: "9-00000000" })).toMatchObject({ isError: true });
    expect(await call("forget", { cite: "claude-code/web" })).toMatchObject({ isError: true });
  });
});

describe("recall", () => {
  let call: TestClient["call"];
  const words = (index: number) =>
    `Decision ${index} about the harbor: berth ${index * 7} stays free in winter. `;

  beforeAll(async () => {
    const kernel = await openKernel({ path: ":memory:" });
    for (let index = 1; index <= 40; index++) {
      await using session = await kernel.session(`harbor-${index}`);
      await session.append({ role: "user", text: words(index).repeat(4) });
    }
    await using long = await kernel.session("long");
    await long.append({ role: "user", text: "港の決定について説明します。".repeat(60) });
    const { McpService } = await import("../../../src/adapters/mcp/mcp-service.ts");
    const { createMcpServer } = await import("../../../src/adapters/mcp/create-mcp-server.ts");
    const { Client, InMemoryTransport } = await import("@modelcontextprotocol/client");
    const [near, far] = InMemoryTransport.createLinkedPair();
    await createMcpServer(new McpService({ kernel }), {}, { era: "legacy" }).connect(far as never);
    const client = new Client({ name: "test", version: "1" });
    await client.connect(near);
    call = async (name, args = {}) => {
      const { structuredContent, isError = false } = await client.callTool({ name, arguments: args });
      return { isError, ...(structuredContent as { text: string; next?: string }) };
    };
    return () => kernel.close();
  });

  test("a recall stays within 800 tokens and continues by a cursor without repeating a hit", async () => {
    const seen: string[] = [];
    let next: string | undefined;
    for (let pages = 0; pages < 4; pages++) {
      const page = await call("recall", {
        query: "decision about the harbor berth",
        ...(next !== undefined && { cursor: next }),
      });
      expect(countTokens(page.text)).toBeLessThanOrEqual(800);
      seen.push(...(page.text.match(/^harbor-\d+#1/gm) ?? []));
      next = page.next;
      if (next === undefined) break;
    }
    expect(seen.length).toBeGreaterThan(20);
    expect(new Set(seen).size).toBe(seen.length);
    const eastern = await call("recall", { query: "港の決定" });
    expect(countTokens(eastern.text)).toBeLessThanOrEqual(800);
  });

  test("the sessions tool stays within 800 tokens a page and lists each session once", async () => {
    const seen: string[] = [];
    let next: string | undefined;
    do {
      const page = await call("sessions", next === undefined ? {} : { cursor: next });
      expect(countTokens(page.text)).toBeLessThanOrEqual(800);
      seen.push(...(page.text.match(/^(?:harbor-\d+|long)/gm) ?? []));
      next = page.next;
    } while (next !== undefined);
    expect(seen).toHaveLength(41);
  });
});
