import { expect, test } from "vitest";
import type { PartInput } from "../../src/model/part.ts";
import { testFolder } from "../support/folder.ts";
import { type Fixture, testMemory } from "./test-memory.ts";

let calls = 0;

/** Appends a tool call with some prose, and its result. */
async function work(
  { say }: Fixture,
  session: string,
  text: string,
  name: string,
  input: Extract<PartInput, { type: "tool-call" }>["input"],
  output = "ok",
): Promise<number> {
  const callId = String(++calls);
  const parts: PartInput[] = [{ type: "tool-call", callId, name, input }];
  const seq = await say(session, {
    role: "assistant",
    parts: text === "" ? parts : [{ type: "text", text }, ...parts],
  });
  await say(session, { role: "tool", parts: [{ type: "tool-result", callId, output }] });
  return seq;
}

const edit = (path: string, text: string) => ({ file_path: path, old_string: "x", new_string: text });

async function placeOf({ memory }: Fixture, question: string, seq: number): Promise<number> {
  const { hits } = await memory.recall(question);
  return hits.findIndex((hit) => hit.kind === "session" && hit.seq === seq);
}

test("an item of a plan leads to its own edit, not to another one", async () => {
  const fixture = await testMemory();
  const todos = (active: number) =>
    ["Add the retry limit", "Rename the queue", "Write the migration"].map((content, index) => ({
      content,
      status: index === active ? "in_progress" : index < active ? "completed" : "pending",
    }));
  await fixture.say("a", "Please clean up the worker.");
  await work(fixture, "a", "", "TodoWrite", { todos: todos(0) });
  await work(fixture, "a", "", "Edit", edit("src/worker.ts", "const attempts = 5;"));
  await work(fixture, "a", "", "TodoWrite", { todos: todos(1) });
  const seq = await work(fixture, "a", "", "Edit", edit("src/worker.ts", "const jobs = open();"));
  await work(fixture, "a", "", "TodoWrite", { todos: todos(2) });
  const other = await work(fixture, "a", "", "Edit", edit("src/schema.ts", "alter();"));
  const found = await placeOf(fixture, "Rename the queue", seq);
  const wrong = await placeOf(fixture, "Rename the queue", other);
  expect(found).toBeGreaterThanOrEqual(0);
  expect(wrong === -1 || found < wrong).toBe(true);
});

test("an item of a plan named by number is found by its words, even in an index that is continued later", async () => {
  const path = testFolder();
  const first = await testMemory({}, path);
  await work(
    first,
    "a",
    "",
    "TaskCreate",
    { subject: "Shorten the preamble" },
    "Task #1 created successfully: Shorten the preamble",
  );
  await first.memory.recall("preamble");
  await first.memory.close();
  const second = await testMemory({}, path);
  const seq = await work(
    second,
    "a",
    "",
    "TaskUpdate",
    { taskId: "1", status: "in_progress" },
    "Updated task #1 status",
  );
  expect(await placeOf(second, "shorten the preamble", seq)).toBeGreaterThanOrEqual(0);
});

test("an edit that the agent announced comes before one that only has words of the question", async () => {
  const fixture = await testMemory();
  await fixture.say("a", "Please go through the queue.");
  await fixture.say("a", {
    role: "assistant",
    parts: [{ type: "text", text: "Now I limit how often the worker retries a failed job." }],
  });
  const seq = await work(fixture, "a", "", "Edit", edit("src/queue.ts", "const most = 5;"));
  for (let index = 0; index < 30; index++)
    await work(fixture, "a", "", "Read", { file_path: `src/${index}.ts` });
  const other = await work(
    fixture,
    "a",
    "",
    "Edit",
    edit("src/worker.ts", "limit(worker, failed, job.retries);"),
  );
  const question = "limit how often the worker retries a failed job";
  const [found, wrong] = [await placeOf(fixture, question, seq), await placeOf(fixture, question, other)];
  expect(found).toBeGreaterThanOrEqual(0);
  expect(wrong).toBeGreaterThan(found);
});

test("a commit leads to the edit before it", async () => {
  const fixture = await testMemory();
  await fixture.say("a", "The parser is slow.");
  const seq = await work(fixture, "a", "", "Edit", edit("src/parser.ts", "const table = build();"));
  const command = 'git commit -m "Cache the tokens of a line"';
  await work(fixture, "a", "", "Bash", { command }, "[main 12ab] 1 file changed");
  await work(fixture, "a", "", "Edit", edit("README.md", "Hello."));
  expect(await placeOf(fixture, "Cache the tokens of a line", seq)).toBeGreaterThanOrEqual(0);
});
