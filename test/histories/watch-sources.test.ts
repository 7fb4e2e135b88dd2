import {
  appendFileSync,
  existsSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isAgentCommand, listRunningAgents } from "../../src/histories/importing/agent-processes.ts";
import type { RecordItem } from "../../src/histories/reading/item.ts";
import { type WatchEvent, type WatchOptions, watchSources } from "../../src/histories/watch-sources.ts";
import type { Kernel } from "../../src/kernel/index.ts";
import { eventually } from "../support/eventually.ts";
import { testFolder } from "../support/folder.ts";
import { testKernel, texts } from "../support/kernel.ts";
import { proofTest } from "../support/proof.ts";
import { toyFormat } from "../support/toy-format.ts";

const line = (id: string, text: string) => {
  const record: RecordItem = {
    type: "record",
    id,
    body: { kind: "message", message: { role: "user", text } },
  };
  return `${JSON.stringify(record)}\n`;
};

/** Watches a folder, calling `act` after each event, until it returns "stop". */
async function follow(
  kernel: Kernel,
  folder: string,
  options: WatchOptions,
  act: (event: WatchEvent, seen: readonly WatchEvent[]) => "stop" | undefined,
): Promise<readonly WatchEvent[]> {
  const stop = new AbortController();
  const seen: WatchEvent[] = [];
  const events = watchSources(kernel, [folder], {
    formats: [toyFormat],
    intervalMs: 5,
    signal: stop.signal,
    ...options,
  });
  for await (const event of events) {
    seen.push(event);
    if (act(event, seen) === "stop") stop.abort();
  }
  return seen;
}

describe("following sources", () => {
  test("following sources leaves out a conversation that was deleted before", async () => {
    const kernel = await testKernel();
    const folder = testFolder();
    for (const name of ["kept", "gone"]) writeFileSync(join(folder, `${name}.toy`), line(name, name));
    const stopAtIdle = (event: WatchEvent) => (event.type === "idle" ? "stop" : undefined);
    await follow(kernel, folder, {}, stopAtIdle);
    await kernel.deleteSession("pi/gone");
    await follow(kernel, folder, {}, stopAtIdle);
    expect((await kernel.sessions()).map(({ id }) => id)).toEqual(["pi/kept"]);
  });

  test("following sources imports existing and later messages, including new files", async () => {
    const kernel = await testKernel();
    const folder = testFolder();
    writeFileSync(join(folder, "talk.toy"), line("a", "one"));
    let idles = 0;
    const seen = await follow(kernel, folder, {}, (event) => {
      if (event.type !== "idle") return undefined;
      idles++;
      if (idles === 1) appendFileSync(join(folder, "talk.toy"), line("b", "two"));
      if (idles === 2) writeFileSync(join(folder, "other.toy"), line("a", "elsewhere"));
      return idles === 3 ? "stop" : undefined;
    });
    const added = seen.flatMap((event) => (event.type === "imported" ? [event.report.session] : []));
    expect(added).toEqual(["pi/talk", "pi/talk", "pi/other"]);
    await using session = await kernel.session("pi/talk");
    expect(texts(await session.page())).toEqual(["one", "two"]);
  });

  test("following sources sees changes behind a link, and in the journal of a database that was named itself", async () => {
    const kernel = await testKernel();
    const folder = testFolder();
    const file = join(folder, "talk.toy");
    const link = join(testFolder(), "linked.toy");
    writeFileSync(file, line("a", "one"));
    symlinkSync(file, link);
    let surveys = 0;
    const detect: typeof toyFormat.detect = (found) => {
      surveys++;
      return toyFormat.detect(found);
    };
    let idles = 0;
    const seen = await follow(kernel, link, { formats: [{ ...toyFormat, detect }] }, (event) => {
      if (event.type === "idle" && ++idles === 1) appendFileSync(file, line("b", "two"));
      return idles === 2 ? "stop" : undefined;
    });
    expect(seen.filter(({ type }) => type === "imported")).toHaveLength(2);
    const before = surveys;
    const stop = new AbortController();
    const following = (async () => {
      const options = { formats: [{ ...toyFormat, detect }], intervalMs: 5, signal: stop.signal };
      for await (const event of watchSources(kernel, [file], options)) expect(event.type).not.toBe("problem");
    })();
    await eventually("the file was surveyed", () => surveys > before);
    writeFileSync(`${file}-wal`, "a journal");
    await eventually("the journal caused another survey", () => surveys > before + 1);
    stop.abort();
    await following;
  });

  test("following sources waits for the rest of a partial record", async () => {
    const kernel = await testKernel();
    const folder = testFolder();
    const file = join(folder, "talk.toy");
    const second = line("b", "two");
    writeFileSync(file, line("a", "one") + second.slice(0, 20));
    let idles = 0;
    const seen = await follow(kernel, folder, {}, (event) => {
      if (event.type !== "idle") return undefined;
      if (++idles === 1) appendFileSync(file, second.slice(20));
      return idles === 2 ? "stop" : undefined;
    });
    expect(seen.filter(({ type }) => type === "problem")).toEqual([]);
    await using session = await kernel.session("pi/talk");
    expect(texts(await session.page())).toEqual(["one", "two"]);
  });

  test("following sources reports once when a source stops growing while its agent runs, and when it continues", async () => {
    const kernel = await testKernel();
    const folder = testFolder();
    const file = join(folder, "talk.toy");
    writeFileSync(file, line("a", "one"));
    utimesSync(file, new Date("2026-01-01"), new Date("2026-01-01"));
    const agents = async () => [{ pid: 7, command: "toy-agent --long" }];
    const seen = await follow(kernel, folder, { stalledAfterMs: 1_000, agents }, (event) => {
      if (event.type === "stalled") appendFileSync(file, line("b", "two"));
      return event.type === "resumed" ? "stop" : undefined;
    });
    const stalled = seen.filter((event) => event.type === "stalled");
    expect(stalled).toHaveLength(1);
    expect(stalled[0]).toMatchObject({ source: { id: "talk" }, process: { pid: 7 } });
  });

  test("following sources reports nothing about an idle source while no agent runs", async () => {
    const kernel = await testKernel();
    const folder = testFolder();
    const file = join(folder, "talk.toy");
    writeFileSync(file, line("a", "one"));
    utimesSync(file, new Date("2026-01-01"), new Date("2026-01-01"));
    let asked = 0;
    const stop = new AbortController();
    const agents = async () => {
      if (++asked === 3) stop.abort();
      return [];
    };
    const seen = await follow(
      kernel,
      folder,
      { stalledAfterMs: 1_000, agents, signal: stop.signal },
      () => undefined,
    );
    expect(seen.map(({ type }) => type)).toEqual(["imported", "idle"]);
  });
});

describe("running agents", () => {
  test("running agents are found by the name of their program or script", async () => {
    expect(isAgentCommand("/usr/local/bin/claude --resume", ["claude"])).toBe(true);
    expect(isAgentCommand("node\0/opt/bin/codex.js\0exec", ["codex"])).toBe(true);
    expect(isAgentCommand("node --inspect /opt/app/server.js claude", ["claude"])).toBe(false);
    expect(isAgentCommand("vim claude", ["claude"])).toBe(false);
    expect(await listRunningAgents([])).toEqual([]);
  });
});

proofTest("following sources without an interval imports a change that the file system reports", async () => {
  const kernel = await testKernel();
  const folder = testFolder();
  const stop = new AbortController();
  const imported: string[] = [];
  writeFileSync(join(folder, "talk.toy"), line("a", "one"));
  const options = { formats: [toyFormat], signal: stop.signal, agents: async () => [] };
  // A folder that appears later is followed from then on.
  const later = join(testFolder(), "later");
  const findPaths = async () => [folder, ...(existsSync(later) ? [later] : [])];
  for await (const event of watchSources(kernel, findPaths, options)) {
    if (event.type === "imported") imported.push(event.report.session);
    if (event.type !== "idle") continue;
    if (imported.length === 1) {
      mkdirSync(later);
      writeFileSync(join(later, "new.toy"), line("a", "two"));
      appendFileSync(join(folder, "talk.toy"), line("b", "three"));
    } else if (imported.length === 3) {
      mkdirSync(join(folder, "project", "deep"), { recursive: true });
      writeFileSync(join(folder, "project", "deep", "deep.toy"), line("a", "four"));
    } else if (imported.length === 4) {
      // The folder is followed by now, and a removed one does not disturb the others.
      rmSync(later, { recursive: true });
      mkdirSync(later);
      appendFileSync(join(folder, "project", "deep", "deep.toy"), line("b", "five"));
    } else stop.abort();
  }
  expect(imported.sort()).toEqual(["pi/deep", "pi/deep", "pi/new", "pi/talk", "pi/talk"]);
});
