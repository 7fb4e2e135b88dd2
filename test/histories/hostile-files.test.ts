import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect } from "vitest";
import { importSources } from "../../src/histories/import-sources.ts";
import { FORMATS } from "../../src/histories/index.ts";
import { testFolder } from "../support/folder.ts";
import { testKernel } from "../support/kernel.ts";
import { proofRounds, sizedTest } from "../support/proof.ts";

/** Names that readers claim, and folders that they look for. */
const NAMES = [
  ...[
    "a.jsonl",
    "rollout-2026-01-01T00-00-00-aaaaaaaa-1111-4222-8333-bbbbbbbbbbbb.jsonl",
    "state.vscdb",
    "crush.db",
  ],
  ...[
    "sessions.db",
    "state.db",
    "data.sqlite3",
    "threads.db",
    "opencode.db",
    "kilo.db",
    "updates.jsonl",
    "summary.json",
  ],
  ...[
    "api_conversation_history.json",
    "ui_messages.json",
    "task_metadata.json",
    "base_state.json",
    "conversations.json",
  ],
  ...[
    "session-1.json",
    "logs.json",
    "chat.json",
    "wire.jsonl",
    "context.jsonl",
    "meta.json",
    "events.jsonl",
    "T-1.json",
  ],
  ...[
    ".aider.chat.history.md",
    "transcript.jsonl",
    "transcript_full.jsonl",
    "x.traj",
    "a.jsonl.gz",
    "a.jsonl.zst",
  ],
];
const FOLDERS = [
  ...[
    "projects",
    "sessions",
    "chats",
    "chatSessions",
    "agent-transcripts",
    "subagents",
    "tool-results",
    "events",
  ],
  ...[
    "session",
    "tasks",
    "state",
    "agents",
    "agent",
    "storage",
    "message",
    "logs",
    ".system_generated",
    "checkpoints",
  ],
];
const KINDS = ["pipe", "link", "dangling", "folder", "device", "self", "sparse", "text"] as const;
const SECRET = "quillmarch-heronfold";

function make(path: string, kind: (typeof KINDS)[number], outside: string): void {
  // Writing into a pipe of the same name would wait.
  if (lstatSync(path, { throwIfNoEntry: false })) return;
  if (kind === "pipe") execFileSync("mkfifo", [path]);
  else if (kind === "folder") mkdirSync(path);
  else if (kind === "text") writeFileSync(path, '{"type":"user"}\n\u0000\n[[[[');
  else if (kind === "sparse") {
    writeFileSync(path, "{");
    truncateSync(path, 1_024 ** 3);
  } else {
    const targets = { link: outside, dangling: join(outside, "missing"), device: "/dev/zero", self: path };
    symlinkSync(targets[kind], path);
  }
}

sizedTest(
  "no reader of a history waits for a pipe, follows a link out of its folder, or takes a device for a file",
  { timeout: 600_000 },
  async () => {
    expect(FORMATS.length).toBeGreaterThanOrEqual(36);
    const outside = join(testFolder(), "secret.jsonl");
    const line = {
      type: "user",
      uuid: "u",
      parentUuid: null,
      sessionId: "s",
      message: { role: "user", content: SECRET },
    };
    writeFileSync(outside, `${JSON.stringify(line)}\n`);
    const kernel = await testKernel();
    const file = fc.record({
      folders: fc.array(fc.constantFrom(...FOLDERS), { maxLength: 3 }),
      name: fc.oneof(
        fc.constantFrom(...NAMES),
        fc.constantFrom("..\\..\\a.jsonl", "a\nb.jsonl", "-rf.json", "\u202egnp.jsonl"),
      ),
      kind: fc.constantFrom(...KINDS),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(file, { minLength: 5, maxLength: 10 }), async (files) => {
        const root = testFolder();
        for (const { folders, name, kind } of files) {
          const folder = join(root, ...folders);
          try {
            mkdirSync(folder, { recursive: true });
          } catch {
            // One of the folders is a file by now.
            continue;
          }
          make(join(folder, name), kind, outside);
        }
        await importSources(kernel, [root], { withOriginals: true });
      }),
      { numRuns: proofRounds(700, 12) },
    );
    for (const { id } of await kernel.sessions({ limit: 1_000 })) {
      await using session = await kernel.session(id);
      expect(JSON.stringify(await session.read({ from: 1, limit: 1_000 }))).not.toContain(SECRET);
    }
  },
);
