import { expect, test } from "vitest";
import type { MessageInput } from "../../../src/model/message.ts";
import { testMemory } from "../test-memory.ts";

function use(
  callId: string,
  name: string,
  input: { [name: string]: string },
  output: string,
): MessageInput[] {
  return [
    { role: "assistant", parts: [{ type: "tool-call", callId, name, input }] },
    { role: "tool", parts: [{ type: "tool-result", callId, output }] },
  ];
}

test("a recall with details gives session, sentence, files and commit of each hit", async () => {
  const { memory, say, store } = await testMemory();
  const session = "claude-code/4711";
  const meta = { source: { format: "claude-code" }, claude: { cwd: "/repo/shop" } };
  await say(session, "Users are logged out after the redirect, please fix that.", meta);
  await store.sessions.update(session, { title: "Logged out after the redirect" });
  const edit = { file_path: "/repo/shop/login.ts", old_string: "a", new_string: "b" };
  for (const message of [
    ...use("1", "Edit", edit, "done"),
    { role: "assistant" as const, text: "I see. The quicksilver cookie was set too late." },
    ...use(
      "2",
      "Bash",
      { command: 'git commit -am "Set the cookie first"' },
      "[main 4f2a91c] Set the cookie first",
    ),
  ])
    await say(session, message);
  const { hits } = await memory.recall("quicksilver cookie", { details: true });
  const { details, text } = hits[0] ?? {};
  expect(details).toMatchObject({
    likelihood: "very likely",
    title: "Logged out after the redirect",
    agent: "claude-code",
    project: "shop",
    work: {
      from: 1,
      to: 6,
      changedFiles: ["/repo/shop/login.ts"],
      commit: { seq: 5, subject: "Set the cookie first", hash: "4f2a91c" },
    },
  });
  const { sentence } = details ?? {};
  expect(text?.slice(sentence?.from, sentence?.to)).toBe("The quicksilver cookie was set too late.");
  expect((await memory.recall("quicksilver cookie")).hits[0]).not.toHaveProperty("details");
});

test("a commit some hundred messages later is found, and a session without a record has no title", async () => {
  const { memory, say } = await testMemory();
  const edit = { file_path: "/login.ts", old_string: "a", new_string: "b" };
  await say("a", "Please repair the pelican gate.");
  for (const message of use("e", "Edit", edit, "done")) await say("a", message);
  for (let index = 0; index < 120; index++) await say("a", { role: "assistant", text: `Step ${index}.` });
  await say("a", "Commit it.");
  for (const message of use("c", "Bash", { command: "git commit -m Done" }, "[main 4f2a91c] Done"))
    await say("a", message);
  const { hits } = await memory.recall("pelican gate", { details: true });
  expect(hits[0]?.details).toMatchObject({ work: { from: 1, to: 123, commit: { subject: "Done" } } });
  expect(hits[0]?.details?.title).toBeUndefined();
});

test("the option details must be true or false", async () => {
  const { memory } = await testMemory();
  await expect(memory.recall("x", { details: "yes" as never })).rejects.toMatchObject({
    code: "ARGUMENT_INVALID",
  });
});
