import { expect, test } from "vitest";
import { pickPublicMeta } from "../../../src/kernel/calls/project-conversations.ts";

test("metadata by which the gateway recognizes a conversation is hidden, and all other metadata is shown", () => {
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
