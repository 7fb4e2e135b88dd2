import { expect, test } from "vitest";
import { parseCompactCommand } from "../../../../src/window/compact/plan/compaction-source.ts";

test.each([
  ["/compact", {}],
  ["  /compact \n", {}],
  ["/compact keep the SQL", { instructions: "keep the SQL" }],
  ["/compact\nkeep:\n- a", undefined],
  ["/compact is a command of many agents\nIt summarizes the conversation.", undefined],
  ["> /compact keep the SQL", undefined],
  ["`/compact`", undefined],
  ["/compaction", undefined],
  ["please /compact", undefined],
  ["", undefined],
])("%j is read as %j", (text, command) => {
  expect(parseCompactCommand(text)).toEqual(command);
});
