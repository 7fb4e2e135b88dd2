import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createToken } from "../../../../src/server/gateway/config/access-token.ts";
import { loadConfig } from "../../../../src/server/gateway/config/load-config.ts";
import { type ReloadResult, watchConfig } from "../../../../src/server/gateway/config/watch-config.ts";
import { testFolder } from "../../../support/folder.ts";

/** A watched configuration, with all its notifications. */
function follow(file?: object, env: Readonly<Record<string, string>> = {}) {
  const store = testFolder();
  const path = join(store, "longhaul.json");
  const write = (value: object, at = path) => writeFileSync(at, JSON.stringify(value), { mode: 0o600 });
  if (file) write(file);
  const request = { cwd: testFolder(), store, env, flags: {} };
  const told: ReloadResult[] = [];
  const waiting: (() => void)[] = [];
  const live = watchConfig({
    request,
    loaded: loadConfig(request),
    everyMs: 20,
    onReload: (reloaded) => {
      told.push(reloaded);
      for (const tell of waiting.splice(0)) tell();
    },
  });
  onTestFinished(() => live.close());
  const next = () => new Promise<void>((resolve) => waiting.push(resolve));
  return { path, live, told, next, write };
}

describe("a watched configuration", () => {
  test("a faulty file is reported once until the next save, however the gateway notices the file", async () => {
    const { live, told, next, write } = follow({ threshold: 50 });
    write({ threshold: 1, port: -1 });
    const refused = live.reload();
    expect(refused.problems?.map(({ key }) => key)).toEqual(["port", "threshold"]);
    expect(live.reload()).toEqual(refused);
    expect(told).toEqual([refused]);
    const seen = next();
    write({ threshold: 2 });
    await seen;
    expect(told.map(({ problems }) => problems?.map(({ key }) => key))).toEqual([
      ["port", "threshold"],
      ["threshold"],
    ]);
  });

  test("a configuration takes effect when its file is created, saved, replaced or removed", async () => {
    const { path, live, next, write } = follow();
    let seen = next();
    write({ threshold: 50 });
    await seen;
    expect(live.current().threshold).toBe(50);
    seen = next();
    write({ threshold: 60, dryRun: true }, `${path}.new`);
    renameSync(`${path}.new`, path);
    await seen;
    expect(live.current()).toMatchObject({ threshold: 60, dryRun: true });
    seen = next();
    rmSync(path);
    await seen;
    expect(live.current()).toMatchObject({ threshold: 80, dryRun: false });
  });

  test("the old configuration stays in effect while the file is invalid, and the problem is reported", () => {
    const { live, told, path, write } = follow({ threshold: 50 });
    writeFileSync(path, '{"threshold": 6');
    expect(live.reload().outcome).toBe("refused");
    write({ threshold: 1 });
    expect(live.reload().messages[0]).toContain("threshold is 1; expected");
    expect(live.current().threshold).toBe(50);
    expect(told).toHaveLength(2);
    write({ threshold: 70 });
    expect(live.reload()).toMatchObject({
      outcome: "changed",
      messages: ["The configuration has changed: threshold."],
    });
    expect(live.current().threshold).toBe(70);
  });

  test("a changed port is reported as needing a restart, and all other changes take effect", () => {
    const { live, write } = follow({ port: 1 });
    write({ port: 2, threshold: 50 });
    const { messages } = live.reload();
    expect(messages).toEqual(["The configuration has changed: threshold.", "port is now 2: restart needed."]);
    expect(live.current()).toMatchObject({ port: 1, threshold: 50 });
  });

  test("a gateway that others can reach keeps its tokens when the file drops them", () => {
    const tokens = [{ name: "a", env: "A" }];
    const { live, write } = follow({ host: "0.0.0.0", tokens }, { A: createToken() });
    write({ host: "127.0.0.1" });
    expect(live.reload().outcome).toBe("refused");
    expect(live.current().tokens).toHaveLength(1);
  });

  test("a saved file without changes reports nothing", () => {
    const { live, told, write } = follow({ threshold: 50 });
    write({ policy: "longhaul", threshold: 50 });
    expect(live.reload()).toEqual({ outcome: "unchanged", messages: [] });
    expect(told).toEqual([]);
  });
});
