import { expect, test } from "vitest";
import { pickPublicMeta } from "../../../src/kernel/calls/project-conversations.ts";

test("marks by which the gateway knows a conversation are not shown; all other metadata is", () => {
  const gateway = {
    kind: "main",
    client: "codex",
    project: "/repo",
    shape: { digest: "ab" },
    firstKey: "cd",
  };
  expect(pickPublicMeta({ team: "a", gateway })).toEqual({
    team: "a",
    gateway: { kind: "main", client: "codex", project: "/repo" },
  });
  expect(pickPublicMeta({ team: "a" })).toEqual({ team: "a" });
  expect(pickPublicMeta(undefined)).toBeUndefined();
});
