import { expect, test } from "vitest";
import { findProject } from "../../../../src/server/gateway/identity/find-project.ts";

test.each([
  [
    "Claude Code",
    "You are an agent.\n<env>\nWorking directory: /repo/web\nIs directory a git repo: Yes\n</env>",
  ],
  ["Claude Code, later", "# Environment\n - Primary working directory: /repo/web\n - Platform: linux"],
  ["opencode", "<env>\n  Working directory: /repo/web\n  Is directory a git repo: yes\n</env>"],
  ["pi", "You are a coding assistant.\nCurrent date: Monday\nCurrent working directory: /repo/web"],
  ["Codex", "<environment_context>\n  <cwd>/repo/web</cwd>\n  <shell>bash</shell>\n</environment_context>"],
  [
    "Cline",
    "<environment_details>\n# Current Working Directory (/repo/web) Files\nindex.ts\n</environment_details>",
  ],
])("the working directory is found as %s states it", (_, text) => {
  expect(findProject(["Hello.", text])).toBe("/repo/web");
});

test("a Windows path and a path with a final slash are understood", () => {
  expect(findProject(["Working directory: C:\\repo\\web\r\n"])).toBe("C:\\repo\\web");
  expect(findProject(["Working directory: /repo/web/"])).toBe("/repo/web");
  expect(findProject(["Working directory: /"])).toBe("/");
});

test("mere words about working directories name no project", () => {
  expect(findProject(["Run the command in the current working directory: it is set."])).toBeUndefined();
  expect(findProject(["Working directory: unknown", "the <cwd> of the task"])).toBeUndefined();
});
