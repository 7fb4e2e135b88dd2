import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readKernelOptions } from "../../src/server/gateway/index.ts";
import { testFolder } from "../support/folder.ts";
import { jsonHere, runHere } from "./support/here.ts";

/** A home with its store, and the file of the user in it. */
function home() {
  const folder = testFolder();
  const store = join(folder, ".longhaul");
  mkdirSync(store, { mode: 0o700 });
  return { home: folder, file: join(store, "longhaul.json") };
}

const write = (file: string, text: string) => writeFileSync(file, text, { mode: 0o600 });

describe("longhaul config set", () => {
  test("longhaul config set creates the file of the user, which the gateway then reads", async () => {
    const place = home();
    const { value } = await jsonHere(["config", "set", "threshold", "60"], place);
    expect(value).toEqual({ key: "threshold", value: 60, path: place.file, isChanged: true });
    expect(statSync(place.file).mode & 0o077).toBe(0);
    expect((await jsonHere(["config", "get", "threshold"], place)).value).toEqual({
      key: "threshold",
      value: 60,
      source: "file",
    });
    const again = await jsonHere(["config", "set", "threshold", "60"], place);
    expect(again.value.isChanged).toBe(false);
  });

  test("longhaul config set keeps comments, order and indentation", async () => {
    const place = home();
    write(
      place.file,
      `{\n    // at half\n    "threshold": 50, /* percent */\n    "recall": { "tools": "off" },\n    "policy": "none",\n}\n`,
    );
    await runHere(["config", "set", "recall.tools", "always"], place);
    await runHere(["config", "set", "threshold", "70"], place);
    await runHere(["config", "set", 'models["box/*"].window', "65536"], place);
    await runHere(["config", "unset", "policy"], place);
    const text = readFileSync(place.file, "utf8");
    expect(text).toContain(
      `    // at half\n    "threshold": 70, /* percent */\n    "recall": { "tools": "always" },`,
    );
    expect(text).not.toContain("policy");
    expect((await jsonHere(["config", "get", "models"], place)).value.value).toEqual({
      "box/*": { window: 65_536 },
    });
  });

  test("longhaul config set accepts text without quotes, and stores a number as text where the setting is a text", async () => {
    const place = home();
    await runHere(["config", "set", "host", "localhost"], place);
    expect(JSON.parse(readFileSync(place.file, "utf8"))).toEqual({ host: "localhost" });
    await runHere(["config", "set", "log.level", "debug"], place);
    expect(JSON.parse(readFileSync(place.file, "utf8")).log).toEqual({ level: "debug" });
  });

  test.each([
    ["threshold", "900", /threshold is 900; expected a whole number from 5 to 100/],
    ["threshhold", "60", /did you mean threshold/],
    ["monitor.warningBytes", "2000000000", /at most monitor.criticalBytes/],
    ["upstreams[0]", "{}", /no key/],
    ["apiKey", "sk-1", /Secrets are never written here/],
  ])("longhaul config set refuses %s %s and leaves the file as it is", async (key, value, why) => {
    const place = home();
    write(place.file, '{ "port": 4748 }');
    const { code, stderr } = await runHere(["config", "set", key, value], place);
    expect(code).toBe(1);
    expect(stderr).toMatch(why);
    expect(readFileSync(place.file, "utf8")).toBe('{ "port": 4748 }');
  });

  test("longhaul config set refuses to touch a damaged file", async () => {
    const place = home();
    write(place.file, '{ "port": ');
    expect((await runHere(["config", "set", "port", "1"], place)).code).toBe(1);
    expect(readFileSync(place.file, "utf8")).toBe('{ "port": ');
  });

  test("longhaul config set checks the value in the file even if a variable overrides it", async () => {
    const place = { ...home(), env: { LONGHAUL_PORT: "4750" } };
    expect((await runHere(["config", "set", "port", "99999999"], place)).code).toBe(1);
    expect(existsSync(place.file)).toBe(false);
  });
});

describe("longhaul config --project", () => {
  test("longhaul config set --project writes a trusted file in the working folder, and refuses settings that a project may not set", async () => {
    const place = { ...home(), cwd: testFolder() };
    const { value } = await jsonHere(["config", "set", "policy", "none", "--project"], place);
    expect(value).toMatchObject({ isChanged: true, isTrusted: true });
    expect((await jsonHere(["config", "get", "policy"], place)).value).toMatchObject({
      value: "none",
      source: "project",
    });
    expect((await runHere(["config", "set", "port", "1", "--project"], place)).code).toBe(2);
  });

  test("longhaul config --project does not trust a file that was in the folder before", async () => {
    const place = { ...home(), cwd: testFolder() };
    writeFileSync(join(place.cwd, "longhaul.json"), '{ "dryRun": true }');
    const { value } = await jsonHere(["config", "set", "policy", "none", "--project"], place);
    expect(value).toMatchObject({ isChanged: true, isTrusted: false });
    expect((await jsonHere(["config", "get", "policy"], place)).value.source).toBe("defaults");
  });
});

describe("longhaul config get, path and schema", () => {
  test("longhaul config get names the source of each setting, in order of precedence", async () => {
    const place = { ...home(), env: { LONGHAUL_PORT: "4750" } };
    write(place.file, '{ "port": 4748, "threshold": 50 }');
    const { value } = await jsonHere(["config", "get"], place);
    const sourceOf = (key: string) => value.settings.find((one: { key: string }) => one.key === key)?.source;
    expect([sourceOf("port"), sourceOf("threshold"), sourceOf("host")]).toEqual([
      "environment",
      "file",
      "defaults",
    ]);
    const paths = await jsonHere(["config", "path"], place);
    expect(paths.value).toEqual({
      variables: ["LONGHAUL_PORT"],
      files: [{ level: "user", path: place.file, exists: true, isInEffect: true }],
    });
  });

  test("longhaul config get suggests the nearest setting", async () => {
    const { code, stderr } = await runHere(["config", "get", "limits.maxThread"], home());
    expect([code, stderr]).toEqual([2, expect.stringContaining("did you mean limits.maxThreads?")]);
  });

  test("longhaul config schema prints a JSON schema with every key", async () => {
    const { stdout } = await runHere(["config", "schema"], home());
    expect(Object.keys(JSON.parse(stdout).properties)).toEqual(
      expect.arrayContaining(["port", "upstreams", "monitor", "retention"]),
    );
  });
});

describe("one configuration", () => {
  test("one configuration sets the prices of models for commands, and the options of a kernel for programs", async () => {
    const place = home();
    const store = join(place.home, ".longhaul");
    const prices = { input: 1_000, output: 0 };
    write(
      place.file,
      JSON.stringify({ models: { "box/*": { window: 9_000, prices } }, monitor: { intervalMs: 5_000 } }),
    );
    const { openKernel } = await import("../../src/kernel/index.ts");
    const options = readKernelOptions({ home: place.home, cwd: testFolder(), env: {} });
    expect(options).toMatchObject({
      path: store,
      monitor: { intervalMs: 5_000, criticalBytes: 1_000_000_000 },
    });
    await using kernel = await openKernel(options);
    expect(kernel.modelFacts("box/a").window).toBe(9_000);
    const session = await kernel.session("talk");
    const window = session.window({ model: "box/a" });
    await session.append({ role: "user", text: "Hello." });
    await window.fit();
    await window.report({ inputTokens: 1_000_000, outputTokens: 1 });
    const { value } = await jsonHere(["usage", "--store", store], place);
    expect(value.total.cost).toBe(1_000);
  });

  test("an invalid configuration is reported by commands that only read, and has no effect", async () => {
    const place = home();
    await runHere(["remember", "The harbor has cranes."], place);
    write(place.file, '{ "port": "x" }');
    const { code, stderr } = await runHere(["sessions"], place);
    expect([code, stderr]).toEqual([0, expect.stringContaining("port is")]);
  });
});
