import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { importSources } from "../../../src/histories/import-sources.ts";
import { findSourcePlaces } from "../../../src/histories/index.ts";
import { toObject } from "../../../src/wire/fields.ts";
import { conversationId, writeConversation } from "../../cli/support/conversation.ts";
import { testFolder } from "../../support/folder.ts";
import { testKernel } from "../../support/kernel.ts";

const ID = `claude-code/${conversationId(1)}`;
const systemOf = (home: string) => ({ home, platform: "linux", env: { PWD: home } }) as const;
const git = (cwd: string, ...args: readonly string[]) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], { cwd, stdio: "ignore" });

/** A repository with a history in it. */
function plant() {
  const repository = testFolder();
  const path = writeConversation(join(repository, "deep"), 1, 2);
  git(repository, "init", "-q");
  return { repository, path };
}

test("a history in a working tree is imported only if somebody agrees to it, and keeps the mark", async () => {
  const { repository, path } = plant();
  const kernel = await testKernel();
  const asked: string[] = [];
  const ask = (answer: boolean) => ({
    system: systemOf(testFolder()),
    mayImportTree: async (one: string, tree: string) => {
      asked.push(one, tree);
      return answer;
    },
  });
  const refused = await importSources(kernel, [repository], ask(false));
  expect(refused.sources).toMatchObject([{ status: "refused" }]);
  expect(await kernel.find(ID)).toBeUndefined();
  expect(asked).toEqual([path, repository]);
  const agreed = await importSources(kernel, [repository], ask(true));
  expect(agreed.sources).toMatchObject([{ status: "imported" }]);
  expect(await kernel.find(ID)).toMatchObject({ meta: { source: { place: "working-tree" } } });
});

test("a history that git tracks is never imported, and the repository's own programs are not run", async () => {
  const { repository, path } = plant();
  git(repository, "add", "-A");
  git(repository, "commit", "-qm", "x");
  git(repository, "config", "core.fsmonitor", `touch ${join(repository, "owned")} #`);
  const kernel = await testKernel();
  const report = await importSources(kernel, [dirname(path)], {
    system: systemOf(testFolder()),
    mayImportTree: async () => true,
  });
  expect(report.sources).toMatchObject([{ status: "refused" }]);
  expect(() => execFileSync("test", ["-e", join(repository, "owned")])).toThrow();
});

test("histories in an agent's folder are the person's own, even if the home is a repository, and others are marked", async () => {
  const kernel = await testKernel();
  const [home, other] = [testFolder(), testFolder()];
  writeConversation(home, 1, 2);
  git(home, "init", "-q");
  writeConversation(other, 2, 2);
  const mayImportTree = async () => false;
  await importSources(kernel, [home, other], { system: systemOf(home), mayImportTree });
  const placeOf = async (number: number) =>
    toObject((await kernel.find(`claude-code/${conversationId(number)}`))?.meta?.source)?.place;
  expect([await placeOf(1), await placeOf(2)]).toEqual(["home", "elsewhere"]);
});

test("no agent's folder is looked for in the working folder", async () => {
  const folder = testFolder();
  for (const name of [".crush", ".aider", ".claude", ".codex"]) mkdirSync(join(folder, name));
  const system = { home: testFolder(), platform: "linux", env: { PWD: folder } } as const;
  expect(await findSourcePlaces(system)).toEqual([]);
});
