import { expect, test } from "vitest";
import { readConversations, selectProject } from "../../../src/kernel/calls/project-conversations.ts";
import { findProjectFolder, isWithinProject } from "../../../src/model/session-origin.ts";
import { testKernel } from "../../support/kernel.ts";

test("a folder inside a project belongs to the project, and a neighboring folder does not", () => {
  expect(isWithinProject("/repo/web", "/repo/web")).toBe(true);
  expect(isWithinProject("/repo/web/src", "/repo/web/")).toBe(true);
  expect(isWithinProject("/repo/web", "/")).toBe(true);
  expect(isWithinProject("/repo/web2", "/repo/web")).toBe(false);
});

test("the project of a session is the folder given by its client or found by the import", () => {
  expect(findProjectFolder({ meta: { gateway: { project: "/repo" }, source: { cwd: "/other" } } })).toBe(
    "/repo",
  );
  expect(findProjectFolder({ meta: { claude: { cwd: "/repo/web" } } })).toBe("/repo/web");
  expect(findProjectFolder({})).toBeUndefined();
});

test("conversations are listed newest first, without memories and without requests that clients send for themselves", async () => {
  const kernel = await testKernel();
  await kernel.session("a", { meta: { cwd: "/repo" } });
  await kernel.session("b", { meta: { gateway: { kind: "title" } } });
  await kernel.session("local/c", { meta: { gateway: { kind: "main", project: "/repo/web" } } });
  await kernel.session("d", { meta: { cwd: "/other" } });
  await kernel.memories().remember("a fact", { by: "user" });
  const { conversations } = await readConversations(kernel, {});
  expect(conversations.map(({ id }) => id)).toEqual(["d", "local/c", "a"]);
  expect(selectProject(conversations, ["/repo"])).toEqual({ sessions: ["local/c", "a"], others: 1 });
  expect(selectProject(conversations, []).others).toBe(0);
  const own = await readConversations(kernel, { prefixes: ["local/"] });
  expect(own.conversations.map(({ id }) => id)).toEqual(["local/c"]);
  const { conversations: newer, newest } = await readConversations(kernel, { until: "a" });
  expect(newer.map(({ id }) => id)).toEqual(["d", "local/c"]);
  expect(newest).toBe("memory:default");
});
