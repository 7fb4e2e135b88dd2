import { expect, test } from "vitest";
import { findOrigin } from "../../src/model/session-origin.ts";

test.each([
  ["claude-code/4711", {}, "claude-code"],
  ["local/claude-code:4711-ab", {}, "claude-code"],
  ["@ann/codex:01a1/explorer", {}, "codex"],
  ["local/anthropic:683fbf31df2c7e3f", {}, undefined],
  ["local/anthropic:683fbf31df2c7e3f", { gateway: { client: "pi" } }, "pi"],
  ["notes", {}, undefined],
])("the session %s with metadata %j belongs to the agent %s", (id, meta, agent) => {
  expect(findOrigin({ id: id as never, meta }).agent).toBe(agent);
});
