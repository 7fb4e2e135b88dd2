import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { testFolder } from "../support/folder.ts";

test.skipIf(process.platform === "win32")("the setup leaves the lock file of a clone unchanged", () => {
  const clone = testFolder();
  const write = (path: string, text: string) => {
    mkdirSync(join(clone, path, ".."), { recursive: true });
    writeFileSync(join(clone, path), text, { mode: 0o755 });
  };
  cpSync("scripts/setup.mjs", join(clone, "scripts/setup.mjs"));
  write("package.json", "{}");
  write("package-lock.json", '{ "lockfileVersion": 3 }\n');
  for (const folder of ["src", "web"]) mkdirSync(join(clone, folder));
  // An npm of another version, which adds rows to the lock file; the build is not part of this test.
  write("programs/npm", "#!/bin/sh\necho '{ \"other\": true }' > package-lock.json\n");
  write("node_modules/.bin/node", "#!/bin/sh\n");
  const PATH = [join(clone, "programs"), process.env.PATH].join(delimiter);
  const setUp = () =>
    spawnSync(process.execPath, ["scripts/setup.mjs"], {
      cwd: clone,
      env: { ...process.env, PATH },
      encoding: "utf8",
    });
  const first = setUp();
  expect(first).toMatchObject({ status: 0, stderr: expect.stringContaining("installing dependencies") });
  expect(readFileSync(join(clone, "package-lock.json"), "utf8")).toBe('{ "lockfileVersion": 3 }\n');
  expect(setUp()).toMatchObject({ status: 0, stderr: "" });
});
