import { expect, test } from "vitest";
import { findResumeCommand } from "../../src/model/resume-command.ts";

const ID = "0f0c2f0e-8f4b-4f0e-9a56-0c1f6d1f4f10";
const imported = (format: string, fields: object = {}) => ({
  id: `${format}/${ID}`,
  meta: { source: { format, id: ID, path: "/x", ...fields } },
});

test("each agent resumes a conversation with its own command, in the conversation's folder", () => {
  expect(findResumeCommand(imported("claude-code", { cwd: "/srv/shop" }))).toBe(
    `cd /srv/shop && claude --resume ${ID}`,
  );
  expect(findResumeCommand(imported("codex"))).toBe(`codex resume ${ID}`);
  expect(findResumeCommand(imported("opencode"))).toBe(`opencode --session ${ID}`);
  expect(findResumeCommand(imported("gemini-cli"))).toBe(`gemini --resume ${ID}`);
});

test("a conversation through the gateway is resumed by the client's own id", () => {
  const session = { id: `local/codex:${ID}`, meta: { gateway: { client: "codex", kind: "main" } } };
  expect(findResumeCommand(session)).toBe(`codex resume ${ID}`);
  expect(findResumeCommand({ ...session, meta: { gateway: { client: "cline" } } })).toBeUndefined();
});

test("a resume command never contains shell syntax from an id", () => {
  expect(findResumeCommand(imported("claude-code", { cwd: "/srv/a b'; rm -rf ~" }))).toBe(
    `cd '/srv/a b'\\''; rm -rf ~' && claude --resume ${ID}`,
  );
  for (const id of ["$(reboot)", "--help-me", "a b c d e f", "x\nreboot"])
    expect(findResumeCommand(imported("codex", { id }))).toBeUndefined();
  expect(findResumeCommand(imported("codex", { cwd: "/srv/\nreboot" }))).toBe(`codex resume ${ID}`);
});

test("agents without a resume command and parts of conversations have none", () => {
  expect(findResumeCommand(imported("roo"))).toBeUndefined();
  expect(findResumeCommand({ ...imported("codex"), parent: "other" })).toBeUndefined();
  expect(findResumeCommand({ id: "ticket-1" })).toBeUndefined();
  expect(findResumeCommand({ id: "x", meta: { source: { format: "constructor", id: ID } } })).toBeUndefined();
});
