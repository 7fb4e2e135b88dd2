import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { testFolder } from "./support/folder.ts";
import { proofCases, sizedTest } from "./support/proof.ts";

const folder = fileURLToPath(new URL("../examples", import.meta.url));
const built = fileURLToPath(new URL("../dist/index.js", import.meta.url));

/** Lines that prove that the example did what its first comment says. */
const KEY_LINES: Readonly<Record<string, readonly (string | RegExp)[]>> = {
  "chat.ts": ["newest page:\n  3  And the second?\n  4  K2, 8,611 m.", "scrolled up:\n  1  Which mountain"],
  "stream.ts": [
    "reader sees a draft: The log gets the",
    /reader's tail got: +\S+#1 "The log gets the message once, when it is finished."/,
    "drafts left: 0, entries in the log: 1",
  ],
  "images.ts": [
    "same blob twice: true",
    "read back and verified: true",
    /first message redacted with its copy: 1 blob freed, \d{6} bytes/,
  ],
  "rewind.ts": [
    "rewound to the plan:\n  Plan a trip to Rome → By train, three days\n",
    "edited and run again:\n  Plan a trip to Oslo → By ship, five days\n",
    "the first line again:\n  Plan a trip to Rome → By train, three days → Book it → Booked\n",
    "the rest kept:\n  Plan a trip to Rome → By night train, four days → Book it → Booked\n",
    "a fork after the question:\n  Plan a trip to Rome → By plane, two days\n",
  ],
  "import-history.ts": [
    "4 messages imported, then 0",
    "# Why does login.test.ts fail?",
    "await server.start()",
  ],
  "window.ts": [
    /src\/part-\d+\.ts: over the limit; \d+ → \d+ tokens/,
    /\d+ messages left; pays after \d+ calls/,
    /\d+ messages in the window, \d+ after the undo/,
    /summary by extractive: \d+ → \d+ tokens/,
  ],
  "memory.ts": [
    /port of the staging server → team\/monday#2: The staging server listens on port 7781/,
    "数据库什么时候迁移 → team/friday#1: 我们决定数据库迁移在周五进行。",
    /^pins: Answer in German\. Build 3 was green\. .* Build 12 was green\.$/m,
    "no pin any more, and still found: Build 1 was green.",
    "after forgetting it: 0 found",
  ],
  "http-api.ts": [
    "80 entries appended, then 0",
    /\d+ messages of \d{4} tokens fit a window of 8000/,
    /receipt: \d+ messages left the window, none left the log/,
    "recalled: ticket/4711#7",
    "SESSION_NOT_FOUND: GET /api/v1/sessions lists the sessions.",
  ],
  "mcp.ts": [
    "tools: recall, expand, remember, forget, sessions",
    /monday#2, assistant, .*: The staging server listens on port 7781\./,
    "Left out: 1 conversation of other projects",
    /expanded monday#2:[\s\S]*\| The staging server listens on port 7781\./,
    "everywhere: both projects",
    "Remembered as memory:default#1.",
  ],
  "ai-chat.ts": ["> And the second?\nK2, 8,611 m.", "the log holds 4 messages"],
  "ai-agent.ts": [
    "41 steps: I have read them all.",
    /the log holds 82 messages of \d{6} characters/,
    /the largest request had \d{5} characters/,
  ],
  "agent.ts": [
    "There is no key in the environment",
    /· run .*\n {2}→ \[exit code 1\]/,
    /· edit .*\n {2}→ Edited total\.mjs, line 1\./,
    /· run .*\n {2}→ \[exit code 0\] all is well/,
    "· a task has ended",
    /window \[.*\] \d+ of 200000 tokens/,
    "total.mjs is now: export const total = (numbers) => numbers.reduce((sum, number) => sum + number, 0);",
  ],
  "fit-only.ts": [
    /^402 messages became \d{2,3}\n/,
    "the newest is the same object: true",
    "one message later it begins the same: true",
  ],
  "two-processes.ts": [
    "the tail saw 1000 messages, the log holds 1000 entries",
    "lost or doubled: 0, out of order: 0",
  ],
  "workers.ts": [
    "the task counted to 8 and is completed; 2 workers had a part in it",
    "its one notice: true",
  ],
};

/** Variables that would connect an example to a real model or store. */
const OUTSIDE = /^(LONGHAUL_HOME|OLLAMA_\w+|OPENAI_COMPATIBLE_\w+|\w+_API_KEY)$/;

test("the package is built, so that examples can import it", () => {
  expect(existsSync(built), "dist/ is missing; run `npm test`, or `npm run build` before vitest").toBe(true);
});

test("every example has its key lines here", () => {
  const examples = readdirSync(folder).filter((name) => name.endsWith(".ts"));
  expect(examples.sort()).toEqual(Object.keys(KEY_LINES).sort());
});

sizedTest.each(proofCases(Object.entries(KEY_LINES), 4))(
  "%s ends by itself, shows its point and leaves nothing",
  async (name, lines) => {
    const temporary = testFolder();
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([variable]) => !OUTSIDE.test(variable)),
    );
    const { stdout } = await promisify(execFile)(process.execPath, [`${folder}/${name}`], {
      env: { ...env, TMPDIR: temporary },
      timeout: 60_000,
    });
    for (const line of lines) expect(stdout).toMatch(line);
    expect(readdirSync(temporary)).toEqual([]);
  },
);
