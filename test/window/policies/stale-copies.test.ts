import { expect, test } from "vitest";
import type { MessageInput } from "../../../src/kernel/index.ts";
import { stubDuplicateReads } from "../../../src/window/passes/stub-duplicate-reads.ts";
import { testKernel } from "../../support/kernel.ts";
import { call, context, result, say, windowOf } from "../passes/windows.ts";

/** Prices of a real model, because nothing is edited for money at assumed ones. */
const CACHE_PRICES = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };

const contents = (lines: number) =>
  Array.from(
    { length: lines },
    (_, line) => `${line + 1}\texport const alpha_${line} = compute(${line});`,
  ).join("\n");
const called = (number: number, name: string, input: object, output: string): readonly MessageInput[] => [
  {
    role: "assistant",
    parts: [{ type: "tool-call", callId: `c${number}`, name, input: input as never }],
  },
  { role: "tool", parts: [{ type: "tool-result", callId: `c${number}`, output }] },
];
const reminder = (text: string) => `<system-reminder>\n${text}\n</system-reminder>`;
const announcement = reminder(
  'Called the Read tool with the following input: {"file_path":"/repo/src/a.ts"}',
);

/** How agents show the contents of a file, by number. */
const FORMS: Readonly<Record<string, (number: number) => readonly MessageInput[]>> = {
  "read_many_files of Gemini CLI": (number) =>
    called(
      number,
      "read_many_files",
      { paths: ["src/a.ts"] },
      `--- /repo/src/a.ts ---\n\n${contents(600)}\n\n--- End of content ---`,
    ),
  "a file that Claude Code was told of": (number) => [
    {
      role: "user",
      parts: [
        { type: "text", text: announcement },
        { type: "text", text: reminder(`Result of calling the Read tool: "${contents(600)}"`) },
        { type: "text", text: `Look at @src/a.ts, ${number}.` },
      ],
    },
    { role: "assistant", text: "I see." },
  ],
  "the same in one text": (number) => [
    {
      role: "user",
      text: `${announcement}\n${reminder(`Result of calling the Read tool: "${contents(600)}"`)}\nLook, ${number}.`,
    },
    { role: "assistant", text: "I see." },
  ],
  "a result of a write above 64 KB": (number) =>
    called(
      number,
      "write_to_file",
      { path: "src/a.ts", diff: "x" },
      `The content was saved.\n\n<final_file_content path="src/a.ts">\n${contents(2_000)}\n</final_file_content>`,
    ),
  "the arguments of a write": (number) =>
    called(
      number,
      "Write",
      { file_path: "/repo/src/a.ts", content: contents(600) },
      "File created successfully at: /repo/src/a.ts",
    ),
};

test.each(Object.entries(FORMS))(
  "only the newest of nine copies made by %s stays in the window",
  async (_, show) => {
    const session = await (await testKernel()).session();
    await session.append({ role: "user", text: "Begin." });
    await session.append({ role: "assistant", text: "Yes." });
    for (let number = 0; number < 9; number++) await session.appendAll(show(number));
    await session.append({ role: "user", text: "Go on." });
    const window = session.window({ model: "claude-sonnet-4-5", policy: "cline", threshold: 40 });
    const { messages } = await window.fit();
    expect(JSON.stringify(messages).split("alpha_1 = ").length - 1).toBe(1);
    expect(JSON.stringify(messages.slice(-4))).toContain("alpha_1 = ");
    expect(JSON.stringify(messages)).toContain("to see it: expand");
  },
);

test.each([
  ["File created successfully at: src/a.ts", 1],
  ["Error: permission denied", 0],
])("a write that answers %j supersedes %i earlier reads", (said, left) => {
  const slots = windowOf(
    say("user", "start"),
    ...[call("1", "Read", { file_path: "src/a.ts" }), result("1", contents(100))],
    ...[call("2", "Write", { file_path: "src/a.ts", content: contents(90) }), result("2", said)],
    ...[say("user", "go on"), say("assistant", "yes"), say("user", "and?")],
  );
  expect(stubDuplicateReads(slots, context)).toHaveLength(left);
});

test("the default policy drops copies of a file that was edited between its reads, and keeps the newest", async () => {
  const kernel = await testKernel({
    models: { m: { window: 100_000, maxOutput: 4_000, prices: CACHE_PRICES } },
  });
  const session = await kernel.session();
  const window = session.window({ model: "m" });
  await session.append({ role: "user", text: "Begin." });
  const version = (number: number) => contents(500).replaceAll("alpha", `version${number}`);
  for (let number = 0; number < 9; number++) {
    await session.appendAll(called(number, "Read", { file_path: "/repo/a.ts" }, version(number)));
    await window.fit();
    const change = { file_path: "/repo/a.ts", old_string: "x", new_string: "y" };
    await session.appendAll(called(100 + number, "Edit", change, "The file was updated."));
    await window.fit();
  }
  const sent = JSON.stringify((await session.window({ model: "m" }).fit()).messages);
  const copies = Array.from({ length: 9 }, (_, number) => sent.includes(`version${number}_200 = `));
  expect(copies).toEqual([false, false, false, false, false, false, false, false, true]);
});
