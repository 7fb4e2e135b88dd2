import { expect, test } from "vitest";
import { openKernel, type Session } from "../../../src/kernel/index.ts";
import { jsonHere, runHere } from "../../cli/support/here.ts";
import { ApiClient } from "../../server/api/support/api-client.ts";
import { TestAgent } from "../../support/agent.ts";
import { testFolder } from "../../support/folder.ts";
import { startGateway, threadsOf } from "../../support/gateway.ts";
import { testKernel } from "../../support/kernel.ts";
import { says, startUpstream } from "../../support/upstream.ts";

async function writeList(session: Session, ...todos: readonly (readonly [text: string, status: string])[]) {
  const input = { todos: todos.map(([content, status]) => ({ content, status })) };
  const parts = [{ type: "tool-call", callId: "c", name: "TodoWrite", input }] as const;
  const { id } = await session.append({ role: "assistant", parts });
  await session.append({ role: "tool", parts: [{ type: "tool-result", callId: "c", output: "ok" }] });
  return id;
}

async function listTexts(session: Session): Promise<readonly string[]> {
  return (await session.todos()).map(({ text, state }) => `${text} ${state}`);
}

/** A session that began a list, and replaced it after a correction. */
async function writeTalk(session: Session) {
  const request = await session.append({ role: "user", text: "Build the harbor page." });
  const first = await writeList(session, ["Draw the map", "in_progress"], ["Write the tests", "pending"]);
  const correction = await session.append({ role: "user", text: "No map, please." });
  const second = await writeList(session, ["Write the tests", "completed"], ["Publish", "pending"]);
  return { request, first, correction, second };
}

test("the to-do list follows the active line through rewind, undo, edit, replaced history and fork", async () => {
  const session = await (await testKernel()).session();
  expect(await session.todos()).toEqual([]);
  const { request, first, correction, second } = await writeTalk(session);
  const firstList = ["Draw the map doing", "Write the tests open"];
  const secondList = ["Write the tests done", "Publish open"];
  expect(await listTexts(session)).toEqual(secondList);
  expect((await session.todos()).map(({ entry }) => entry)).toEqual([second, second]);

  const { previous } = await session.rewind(correction.id);
  expect(await listTexts(session)).toEqual(firstList);
  expect((await session.todos())[0]?.entry).toBe(first);
  const fork = await session.fork();
  await session.choose(previous);
  expect(await listTexts(session)).toEqual(secondList);
  expect(await listTexts(fork)).toEqual(firstList);

  await session.edit(correction.id, { role: "user", text: "A smaller map, please." });
  expect(await listTexts(session)).toEqual(firstList);
  await session.setLine([{ session: session.id, from: request.seq, to: request.seq }], "replaced");
  expect(await session.todos()).toEqual([]);
});

test("tasks created one by one add up, and an empty list clears the earlier one", async () => {
  const session = await (await testKernel()).session();
  const work = async (callId: string, name: string, input: object, output: string) => {
    await session.append({
      role: "assistant",
      parts: [{ type: "tool-call", callId, name, input: { ...input } }],
    });
    await session.append({ role: "tool", parts: [{ type: "tool-result", callId, output }] });
  };
  await work("1", "TaskCreate", { subject: "Dig" }, "Task #7 created successfully: Dig");
  await work("2", "TaskCreate", { subject: "Fill" }, "Task #8 created successfully: Fill");
  await work("3", "Read", { file_path: "a.ts" }, "x".repeat(5_000));
  await work("4", "TaskUpdate", { taskId: "7", status: "completed" }, "Updated task #7 status");
  expect(await listTexts(session)).toEqual(["Dig done", "Fill open"]);
  await writeList(session, ["Sweep", "pending"]);
  expect(await listTexts(session)).toEqual(["Sweep open", "Dig done", "Fill open"]);
  await writeList(session);
  expect(await listTexts(session)).toEqual(["Dig done", "Fill open"]);
});

test("API and command line show the to-do list of the session's line", async () => {
  const path = testFolder();
  const gateway = await startGateway({ upstream: "http://127.0.0.1:9", path });
  const api = await ApiClient.open(gateway);
  const session = await gateway.kernel.session("harbor");
  const { correction } = await writeTalk(session);
  for (let round = 0; round < 2; round++) {
    const todos = await session.todos();
    expect((await api.get("/sessions/harbor/todos")).body).toEqual({ session: "harbor", todos });
    const shown = await jsonHere(["context", "harbor", "--json", "--store", path]);
    expect(shown.value.todos).toEqual(todos);
    await session.rewind(correction.id);
  }
  const { stdout } = await runHere(["context", "harbor", "--store", path]);
  expect(stdout).toMatch(
    /\nTo do on this line, 0 of 2 done\n +#2 +\[~\] Draw the map\n +#2 +\[ \] Write the tests\n/,
  );
});

test("a client that replaces its history through the gateway gets the to-do list of that history", async () => {
  const list = (content: string) => ({ todos: [{ content, status: "pending" }] });
  const upstream = await startUpstream(
    says((_, index) => ({
      id: `msg_${index}`,
      ...(index < 2
        ? { toolCalls: [{ id: `call_${index}`, name: "TodoWrite", input: list(`step ${index}`) }] }
        : { text: "Fine." }),
    })),
  );
  const gateway = await startGateway({ upstream: upstream.url });
  const agent = new TestAgent(gateway);
  const reply = await agent.say("Build the harbor page.");
  const next = await agent.hand(reply.calls, "ok");
  await agent.hand(next.calls, "ok");
  const [main] = await threadsOf(gateway, "main");
  const session = await gateway.kernel.session(main?.id);
  expect(await listTexts(session)).toEqual(["step 1 open"]);
  agent.elements.splice(3);
  agent.elements.push(...agent.words("Stop after the first step."));
  await agent.next();
  expect(await listTexts(session)).toEqual(["step 0 open"]);
});

test("the to-do list is found again by the next process", async () => {
  const path = testFolder();
  for (let process = 0; process < 2; process++) {
    await using kernel = await openKernel({ path });
    await using session = await kernel.session("s");
    if (process === 0) await writeList(session, ["Dig", "pending"]);
    expect(await listTexts(session)).toEqual(["Dig open"]);
  }
});
