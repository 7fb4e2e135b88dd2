import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import { runJson } from "../cli/support/program.ts";
import { testFolder } from "../support/folder.ts";
import { proofTest } from "../support/proof.ts";

const secretWord = (index: number) => `zanzibarsecret${index}`;

proofTest("indexing follows no links, leaves out files with keys and masks other secrets", async () => {
  const [root, outside, store] = [testFolder(), testFolder(), testFolder()];
  writeFileSync(join(outside, "notes.txt"), "outsideword of another tree\n");
  mkdirSync(join(outside, "folder"));
  writeFileSync(join(outside, "folder", "inner.txt"), "outsideinner of another tree\n");
  symlinkSync(join(outside, "notes.txt"), join(root, "notes.md"));
  symlinkSync(join(outside, "folder"), join(root, "linked"));
  symlinkSync("/etc/passwd", join(root, "x"));
  execFileSync("mkfifo", [join(root, "pipe")]);
  const left = [
    ".env",
    ".env.local",
    ".envrc",
    "server.pem",
    "id_rsa",
    "id_ed25519",
    ".npmrc",
    ".netrc",
    ".pgpass",
    ".git-credentials",
    "app.key",
    "terraform.tfstate",
  ];
  for (const [index, name] of left.entries())
    writeFileSync(join(root, name), `${secretWord(index)} stands here\n`);
  mkdirSync(join(root, ".ssh"));
  writeFileSync(join(root, ".ssh", "config"), "zanzibarssh stands here\n");
  const password = ["hunter2", "Xk29Qm"].join("");
  writeFileSync(join(root, "config.yml"), `harbour: open\npassword: ${password}\nafterwards: lantern\n`);
  writeFileSync(join(root, "id_mapping.ts"), "export const lighthouse = 1;\n");

  const { value } = await runJson(["index", root, "--store", store]);
  expect(value).toMatchObject({ changed: 2 });
  expect(value.skipped.map(({ reason }: { reason: string }) => reason)).toEqual(
    Array(left.length).fill("may hold keys"),
  );
  await using kernel = await openKernel({ path: store });
  const recall = async (question: string) => JSON.stringify((await kernel.memory.recall(question)).hits);
  for (const word of [
    ...left.map((_, index) => secretWord(index)),
    "outsideword",
    "outsideinner",
    "zanzibarssh",
    "root:x",
  ])
    expect(await recall(word)).not.toContain(word);
  const found = await recall("harbour lantern");
  expect(found).toContain("harbour: open");
  expect(found).toContain("*".repeat(password.length));
  expect(found).not.toContain(password);
  expect(await recall("lighthouse")).toContain("id_mapping.ts");
  for (const file of readdirSync(store).filter((name) => name.startsWith("memory.db")))
    expect(readFileSync(join(store, file)).includes(password.toLowerCase())).toBe(false);
});

test("an indexed file that was replaced by a link is no longer found", async () => {
  const [root, outside, path] = [testFolder(), testFolder(), testFolder()];
  const file = join(root, "notes.txt");
  writeFileSync(file, "the marmalade is in the cupboard\n");
  writeFileSync(join(outside, "secret.txt"), "the marmalade is in the cupboard\n");
  await using kernel = await openKernel({ path });
  await kernel.memory.indexFiles([root]);
  expect((await kernel.memory.recall("marmalade")).hits).toHaveLength(1);
  execFileSync("ln", ["-sfn", join(outside, "secret.txt"), file]);
  await kernel.memory.indexFiles([root]);
  expect((await kernel.memory.recall("marmalade")).hits).toHaveLength(0);
});
