import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  findOutsideText,
  openOutsideFile,
  readOutsideEnd,
  readOutsideFile,
  readOutsideFileSync,
} from "../../../src/model/base/outside-file.ts";
import { testFolder } from "../../support/folder.ts";

const REFUSED = { code: "SOURCE_UNREADABLE" };

test("a pipe, a device, a socket, a folder, a link and a missing file are refused at once, by every reader", async () => {
  const folder = testFolder();
  const names = ["pipe", "socket", "folder", "link", "missing"].map((name) => join(folder, name));
  const [pipe = "", socket = "", below = "", link = ""] = names;
  execFileSync("mkfifo", [pipe]);
  const server = createServer();
  await new Promise((resolve) => server.listen(socket, () => resolve(undefined)));
  mkdirSync(below);
  writeFileSync(join(folder, "real"), "x");
  symlinkSync(join(folder, "real"), link);
  for (const path of [...names, "/dev/zero", "/dev/tty"]) {
    await expect(openOutsideFile(path), path).rejects.toMatchObject(REFUSED);
    await expect(readOutsideFile(path, { maxBytes: 10 }), path).rejects.toMatchObject(REFUSED);
    await expect(readOutsideEnd(path, 10), path).rejects.toMatchObject(REFUSED);
    expect(await findOutsideText(path, { maxBytes: 10 }), path).toBeUndefined();
    expect(() => readOutsideFileSync(path, { maxBytes: 10 }), path).toThrow();
  }
  expect(await findOutsideText(link, { maxBytes: 10, allowsLink: true })).toBe("x");
  server.close();
});

test("a file above the bound is refused, and the end of a long file is read alone", async () => {
  const path = join(testFolder(), "file");
  writeFileSync(path, "0123456789");
  await expect(readOutsideFile(path, { maxBytes: 9 })).rejects.toMatchObject(REFUSED);
  expect(() => readOutsideFileSync(path, { maxBytes: 9 })).toThrow("larger than 9 bytes");
  expect(String(await readOutsideFile(path, { maxBytes: 10 }))).toBe("0123456789");
  expect(String(readOutsideFileSync(path, { maxBytes: 10 }))).toBe("0123456789");
  expect(String(await readOutsideEnd(path, 3))).toBe("789");
});
