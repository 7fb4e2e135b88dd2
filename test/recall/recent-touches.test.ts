import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testFolder } from "../support/folder.ts";
import { testMemory } from "./test-memory.ts";

const NAMES = ["anchor", "basket", "candle", "dragon", "engine", "falcon"];

function project(): string {
  const root = testFolder();
  mkdirSync(join(root, "src"));
  for (const name of NAMES) {
    const text = `export function ${name}(): void {\n  // draws one ${name}\n}\n`;
    writeFileSync(join(root, "src", `${name}.ts`), text);
  }
  return root;
}

async function openProject() {
  const opened = await testMemory();
  const root = project();
  await opened.memory.indexFiles([root]);
  const edit = async (session: string, path: string) => {
    await opened.log.store.sessions.open({ id: session, createdAt: 1 });
    const input = { path, oldText: "one", newText: "two" };
    const call = { type: "tool-call", callId: `call-${path}`, name: "edit", input } as const;
    await opened.log.append(session, [await opened.log.prepare({ role: "assistant", parts: [call] })]);
  };
  const firstFile = async (question: string, scope?: { sessions: string[]; files: string[] }) => {
    const { hits } = await opened.memory.recall(question, scope ? { scope } : {});
    const hit = hits.find(({ kind }) => kind === "file");
    return hit?.kind === "file" ? hit.path.slice(root.length + 1) : undefined;
  };
  return { ...opened, root, edit, firstFile };
}

test("the file that a session edited last is found without a matching word", async () => {
  const { root, edit, firstFile } = await openProject();
  await edit("work", `${root}/src/engine.ts`);
  expect(await firstFile("one draws wrong, try again")).toBe("src/engine.ts");
  await edit("work", `${root}/src/candle.ts`);
  expect(await firstFile("one draws wrong, try again")).toBe("src/candle.ts");
  expect(await firstFile("the function falcon in src/falcon.ts draws nothing")).toBe("src/falcon.ts");
});

test("work in another checkout of the project counts for the same file", async () => {
  const { edit, firstFile } = await openProject();
  await edit("work", "/somewhere/worktrees/two/src/engine.ts");
  expect(await firstFile("one draws wrong, try again")).toBe("src/engine.ts");
});

test("only sessions within the scope count for recent files, and deleted ones no longer do", async () => {
  const { log, memory, root, edit, firstFile } = await openProject();
  await edit("mine", `${root}/src/basket.ts`);
  await edit("other", `${root}/src/engine.ts`);
  expect(await firstFile("one draws wrong", { sessions: ["mine"], files: [root] })).toBe("src/basket.ts");
  expect(await firstFile("one draws wrong")).toBe("src/engine.ts");
  await log.store.sessions.delete("other");
  await memory.catchUp();
  expect(await firstFile("one draws wrong")).toBe("src/basket.ts");
});
