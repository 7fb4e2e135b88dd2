import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { importSources } from "../../../src/histories/import-sources.ts";
import { anthropicWriter, openaiResponsesWriter } from "../../../src/histories/writers.ts";
import { testFolder } from "../../support/folder.ts";
import { testKernel } from "../../support/kernel.ts";
import { exportTo, readJson, writeTask } from "../cline/task-folder.ts";

/** Imports a path and exports its only session; returns the folder of the export. */
async function convert(path: string, writer: typeof anthropicWriter): Promise<string> {
  const kernel = await testKernel();
  const { sources } = await importSources(kernel, [path]);
  const folder = testFolder();
  await exportTo(folder, kernel, sources[0]?.session as string, writer);
  return folder;
}

test("a Cline history becomes an Anthropic request with signed thoughts only", async () => {
  const signed = { type: "thinking", thinking: "signed", signature: "ErsLCkYICxgC" };
  const redacted = { type: "redacted_thinking", data: "c2VjcmV0" };
  const text = { type: "text", text: "Done." };
  const unsigned = [
    { type: "thinking", thinking: "no signature" },
    { type: "thinking", thinking: "empty signature", signature: "" },
    { type: "thinking", signature: "", summary: [] },
    { type: "thinking", thinking: null, signature: "ErsLCkYICxgC" },
    { type: "redacted_thinking" },
    { type: "reasoning", text: "of another provider", summary: [] },
  ];
  const task = writeTask(join(testFolder(), "tasks"), "1769064454592", {
    "api_conversation_history.json": [
      { role: "user", content: [{ type: "text", text: "<task>\nFix it.\n</task>" }] },
      { role: "assistant", content: [...unsigned, signed, redacted, text] },
    ],
    "ui_messages.json": [{ ts: 1_769_064_454_592, type: "say", say: "task", text: "Fix it." }],
  });
  expect(readJson(await convert(task, anthropicWriter), "conversation.json")).toMatchObject({
    messages: [{ role: "user" }, { role: "assistant", content: [signed, redacted, text] }],
  });
});

test("a Codex history becomes a Responses request without empty reasoning, and a second export is the same", async () => {
  const line = (type: string, payload: object) => ({ timestamp: "2026-08-01T10:00:00.000Z", type, payload });
  const reasoning = (more: object) => ({ type: "reasoning", summary: [], ...more });
  const encrypted = reasoning({ id: "rs_1", encrypted_content: "gAAAA" });
  const message = (role: string, type: string, text: string) => ({
    type: "message",
    role,
    content: [{ type, text }],
  });
  const items = [
    message("user", "input_text", "Fix it."),
    reasoning({}),
    reasoning({ id: "rs_2", content: null, encrypted_content: null }),
    reasoning({ id: "rs_3", encrypted_content: "" }),
    reasoning({ id: "rs_4", summary: [{ type: "summary_text", text: "" }] }),
    reasoning({
      id: "rs_5",
      summary: [
        { type: "summary_text", text: "" },
        { type: "summary_text", text: " " },
      ],
    }),
    reasoning({ id: "rs_6", content: [{ type: "reasoning_text", text: "" }] }),
    encrypted,
    message("assistant", "output_text", "Done."),
  ];
  const id = "0198aaaa-0000-7000-8000-000000000001";
  const meta = line("session_meta", {
    id,
    timestamp: "2026-08-01T10:00:00.000Z",
    cwd: "/code",
    source: "cli",
  });
  const rollout = join(testFolder(), `rollout-2026-08-01T10-00-00-${id}.jsonl`);
  const records = [meta, ...items.map((payload) => line("response_item", payload))];
  writeFileSync(rollout, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  const raw = join(testFolder(), "request.json");
  writeFileSync(raw, JSON.stringify({ model: "gpt-x", input: items }));
  for (const path of [rollout, raw]) {
    const first = await convert(path, openaiResponsesWriter);
    const body = readJson(first, "conversation.json") as { input: readonly { type: string }[] };
    expect(body.input.filter(({ type }) => type === "reasoning")).toEqual([encrypted]);
    const second = await convert(join(first, "conversation.json"), openaiResponsesWriter);
    expect(readJson(second, "conversation.json")).toEqual(body);
  }
});
