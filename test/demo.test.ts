import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Figures } from "../demo/figures.ts";
import { testFolder } from "./support/folder.ts";
import { proofCases, proofTest, sizedTest } from "./support/proof.ts";

const demo = fileURLToPath(new URL("../demo/marathon.ts", import.meta.url));
const ESCAPE = "\u001b";

interface Run {
  readonly child: ChildProcess;
  readonly temporary: string;
  readonly ended: Promise<{ readonly exitCode: number; readonly stdout: string; readonly stderr: string }>;
}

/** Starts the demo with a pipe and its own temporary folder. */
function start(...args: readonly string[]): Run {
  const temporary = testFolder();
  const child = spawn(process.execPath, [demo, ...args], {
    // Test runners set FORCE_COLOR; a pipe still gets plain text.
    env: { ...process.env, TMPDIR: temporary, FORCE_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = Promise.all([once(child, "exit"), text(child.stdout), text(child.stderr)]).then(
    ([[exitCode], stdout, stderr]) => ({ exitCode, stdout, stderr }),
  );
  return { child, temporary, ended };
}

describe("the demonstration", () => {
  test("the demonstration prints its figures as one JSON object and its story elsewhere", async () => {
    const { temporary, ended } = start("--messages", "400", "--images", "2", "--image-mb", "1", "--json");
    const { exitCode, stdout, stderr } = await ended;
    expect(exitCode, stderr).toBe(0);
    const { append, disk, heap, rss, reopen, elapsedMs } = JSON.parse(stdout) as Figures;
    expect(append).toMatchObject({ messages: 400, images: 2, imageBytes: 2_000_000 });
    expect(append.textBytes / append.messages).toBeGreaterThan(1_000);
    expect(append.textBytes / append.messages).toBeLessThan(4_000);
    expect(disk.blobBytes).toBe(2_000_000);
    expect(disk.logBytes).toBeGreaterThan(0);
    for (const course of [heap, rss]) {
      expect(course.peakBytes).toBeGreaterThanOrEqual(course.startBytes);
      expect(course.growthBytes).toBe(course.endBytes - course.startBytes);
    }
    expect(elapsedMs).toBeGreaterThan(append.elapsedMs + reopen.openMs);
    expect(stderr).toContain("1. Append 400 messages and 2 images of 1.0 MB");
    expect(stderr).not.toContain(ESCAPE);
    expect(readdirSync(temporary)).toEqual([]);
  });

  proofTest(
    "the demonstration tells its story as plain text in a pipe, and ends with its tables",
    async () => {
      const { ended } = start("--messages", "300", "--images", "0");
      const { exitCode, stdout, stderr } = await ended;
      expect(exitCode, stderr).toBe(0);
      for (const chapter of ["1. Append", "2. Page", "3. Look", "4. Rewind", "5. Edit", "6. Close"])
        expect(stdout).toContain(`\n${chapter}`);
      expect(stdout).toMatch(/\n {2}messages appended +300 /);
      expect(stdout).toMatch(/\nDone in .+; temporary folder removed\.\n$/);
      expect(stdout).not.toContain(ESCAPE);
      expect(stderr).toBe("");
    },
  );

  proofTest("the demonstration keeps the folder when asked to and says where it is", async () => {
    const { temporary, ended } = start("--messages", "50", "--images", "1", "--image-mb", "0.1", "--keep");
    const { stdout } = await ended;
    const [kept] = readdirSync(temporary);
    expect(stdout).toContain(`folder kept: ${join(temporary, kept ?? "")}`);
    expect(readdirSync(join(temporary, kept ?? ""))).toContain("log.db");
  });

  sizedTest.each(
    proofCases([
      ["SIGINT", 130],
      ["SIGTERM", 143],
    ] as const),
  )("the demonstration ends cleanly on %s with exit code %i", async (signal, expected) => {
    const { child, temporary, ended } = start("--messages", "1000000", "--images", "1000");
    await firstProgress(child);
    expect(readdirSync(temporary)).toHaveLength(1);
    child.kill(signal);
    const { exitCode, stdout } = await ended;
    expect(exitCode).toBe(expected);
    expect(stdout).toMatch(
      new RegExp(`\\nStopped by ${signal}: appends finished, kernel closed, temporary folder removed\\.\\n$`),
    );
    expect(readdirSync(temporary)).toEqual([]);
  });

  proofTest("the demonstration ends cleanly when nobody reads on", async () => {
    const { child, temporary, ended } = start("--messages", "20000", "--images", "0");
    const closed = expect(ended).rejects.toThrow("Premature close");
    await firstProgress(child);
    child.stdout?.destroy();
    const [exitCode] = await once(child, "exit");
    await closed;
    expect(exitCode).toBe(141);
    expect(readdirSync(temporary)).toEqual([]);
  });

  proofTest("the demonstration explains its options", async () => {
    const { exitCode, stdout } = await start("--help").ended;
    expect(exitCode).toBe(0);
    for (const option of ["--messages", "--images", "--image-mb", "--keep", "--json"])
      expect(stdout).toContain(option);
  });

  sizedTest.each(
    proofCases([
      [["--mesages", "5"], "--mesages"],
      [["--messages", "many"], '--messages is "many"; expected a whole number from 10'],
      [["--images", "1.5"], '--images is "1.5"; expected a whole number from 0'],
      [["--image-mb", "0"], '--image-mb is "0"; expected a number from'],
      [["--messages"], "--messages"],
      [["faster"], "faster"],
    ]),
  )("the demonstration refuses %j with exit code 2 and says why", async (args, why) => {
    const { temporary, ended } = start(...args);
    const { exitCode, stdout, stderr } = await ended;
    expect(exitCode).toBe(2);
    expect(stderr).toContain(why);
    expect(stderr).toContain("--help");
    expect(stdout).toBe("");
    expect(readdirSync(temporary)).toEqual([]);
  });
});

/** Resolves on the first progress line. */
function firstProgress(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.stdout?.on("data", (chunk: Buffer) => {
      if (chunk.includes("% ")) resolve();
    });
  });
}
