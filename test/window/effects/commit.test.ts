import { expect, test } from "vitest";
import { findCommitCommand, parseCommit } from "../../../src/window/effects/commit.ts";

test.each([
  [`git commit -m "Fix the login"`, "", { subject: "Fix the login" }],
  [`git add -A && git commit -am 'Fix the login'`, "", { subject: "Fix the login" }],
  [
    `git commit -m "$(cat <<'EOF'\nfix: the login\n\nBecause of cookies.\nEOF\n)"`,
    "",
    { subject: "fix: the login" },
  ],
  [
    `git commit -F message.txt`,
    "[main 4f2a91c] Fix the login\n 2 files changed, 3 insertions(+)",
    { subject: "Fix the login", hash: "4f2a91c" },
  ],
  [`git commit -m x`, "[main (root-commit) 4f2a91c0] First", { subject: "First", hash: "4f2a91c0" }],
  [`git commit`, "", {}],
  [`git commit -m x`, "On branch main\nnothing to commit, working tree clean", undefined],
  [`git commit -m x`, "fatal: not a git repository", undefined],
])("reads the commit of %j from its command and output", (command, output, commit) => {
  expect(parseCommit(command, output)).toEqual(commit);
});

test.each([
  ["git commit -m x", true],
  ["git -C /shop commit -m x", true],
  ["git commit --amend", false],
  ["git log --grep commit", false],
])("recognizes the call of %j", (command, isCommit) => {
  const call = { type: "tool-call", callId: "1", name: "Bash", input: { command } } as const;
  expect(findCommitCommand(call) !== undefined).toBe(isCommit);
});
