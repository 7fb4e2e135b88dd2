import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { anthropicFormat, openaiChatFormat } from "../../../src/histories/api-formats.ts";
import { importSources } from "../../../src/histories/import-sources.ts";
import type { Kernel } from "../../../src/kernel/index.ts";
import { testFolder } from "../../support/folder.ts";
import { testKernel, texts } from "../../support/kernel.ts";
import { lines, readText } from "./reading-wire.ts";

const user = (content: string) => ({ role: "user", content });
const assistant = (text: string) => ({ role: "assistant", content: [{ type: "text", text }] });
const request = (...messages: object[]) => ({ model: "claude-9", system: "s", messages });

async function lineOf(kernel: Kernel, id: string): Promise<string[]> {
  await using session = await kernel.session(id);
  return texts(await session.page({ kinds: ["message"] }));
}

describe("consecutive requests in a log", () => {
  test("only the new messages of each request are stored", async () => {
    const { messages } = await readText(
      anthropicFormat,
      lines(request(user("a")), request(user("a"), assistant("b"), user("c"))),
      "log.jsonl",
    );
    expect(messages.map(([id, role]) => [id, role])).toEqual([
      ["L1:system", "system"],
      ["L1#0", "user"],
      ["L2#1", "assistant"],
      ["L2#2", "user"],
    ]);
  });

  test("moved cache marks and a new system prompt do not start another conversation", async () => {
    const marked = {
      role: "user",
      content: [{ type: "text", text: "a", cache_control: { type: "ephemeral" } }],
    };
    const { messages } = await readText(
      anthropicFormat,
      lines(request(marked), { ...request(user("a"), assistant("b"), user("c")), system: "t" }),
      "log.jsonl",
    );
    expect(messages.map(([id]) => id)).toEqual(["L1:system", "L1#0", "L2:system", "L2#1", "L2#2"]);
  });

  test("a response is recognized in the next request", async () => {
    const { messages } = await readText(
      anthropicFormat,
      lines(
        { request: request(user("a")), response: { id: "msg_1", ...assistant("b") } },
        {
          request: request(user("a"), assistant("b"), user("c")),
          response: { id: "msg_2", ...assistant("d") },
        },
      ),
      "log.jsonl",
    );
    expect(messages.map(([id]) => id)).toEqual(["L1:system", "L1#0", "msg_1", "L2#2", "msg_2"]);
  });

  test("a request that continues from an earlier message becomes a branch", async () => {
    const kernel = await testKernel();
    const path = join(testFolder(), "gateway-7.jsonl");
    const first = request(user("a"));
    const second = request(user("a"), assistant("b"), user("c"));
    writeFileSync(path, lines(first, second, request(user("a"), assistant("b2"), user("d"))));
    const { sources } = await importSources(kernel, [path], { formats: [anthropicFormat] });
    expect(await lineOf(kernel, sources[0]?.session ?? "")).toEqual(["s", "a", "b2", "d"]);
  });

  test("a request that continues no other starts its own conversation, and each conversation continues separately", async () => {
    const { messages } = await readText(
      openaiChatFormat,
      lines(
        { messages: [user("a")] },
        { messages: [user("title?")] },
        { messages: [user("a"), { role: "assistant", content: "b" }] },
        { messages: [user("title?"), { role: "assistant", content: "Talk" }] },
      ),
      "log.jsonl",
    );
    expect(messages.map(([id, , , child]) => [id, child])).toEqual([
      ["L1#0", undefined],
      ["L2#0", "L2"],
      ["L3#1", undefined],
      ["L4#1", "L2"],
    ]);
  });

  test("an import of a request log continues where the last one stopped", async () => {
    const kernel = await testKernel();
    const path = join(testFolder(), "gateway-7.jsonl");
    const filler = "x".repeat(300_000);
    writeFileSync(path, lines(request(user("a")), request(user("a"), assistant(filler), user("c"))));
    await importSources(kernel, [path], { formats: [anthropicFormat] });
    appendFileSync(path, lines(request(user("a"), assistant(filler), user("c"), assistant("d"))));
    const later = await importSources(kernel, [path], { formats: [anthropicFormat] });
    expect(later.totals.added.messages).toBe(1);
    expect((await lineOf(kernel, later.sources[0]?.session ?? "")).map((text) => text.slice(0, 5))).toEqual([
      "s",
      "a",
      "[blob",
      "c",
      "d",
    ]);
  });

  test("changed fields of a request are stored once for each change", async () => {
    const { records, session } = await readText(
      openaiChatFormat,
      lines(
        { model: "m", temperature: 1, messages: [user("a")] },
        { model: "m", temperature: 2, messages: [user("a"), user("b")] },
      ),
      "log.jsonl",
    );
    expect(session?.meta).toEqual({ "openai-chat": { model: "m", temperature: 1 } });
    expect(records.at(-1)).toMatchObject({
      id: "L2:fields",
      body: { kind: "raw", value: { temperature: 2 } },
    });
  });
});
