import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { Agent, ApiName, Command } from "../../../clients/agents/agent.ts";
import { claudeCode } from "../../../clients/agents/claude-code.ts";
import { cline } from "../../../clients/agents/cline.ts";
import { codex } from "../../../clients/agents/codex.ts";
import { geminiCli } from "../../../clients/agents/gemini-cli.ts";
import { opencode } from "../../../clients/agents/opencode.ts";
import { pi } from "../../../clients/agents/pi.ts";
import { findInstalled } from "../../../clients/install.ts";
import { writeNotes } from "../../../clients/notes.ts";
import { PROMPTS } from "../../../clients/upstream/answer.ts";
import { startUpstream } from "../../../clients/upstream/scripted-upstream.ts";
import { openKernel } from "../../../src/kernel/index.ts";
import { testFolder } from "../../support/folder.ts";
import { proofTest } from "../../support/proof.ts";
import { brokenRules } from "../../support/provider-rules/message-order.ts";
import { jsonHere } from "../support/here.ts";
import { runClient } from "./real-clients.ts";

const QUESTION = "And which color has it?";
/** Conversations of each agent that are deleted, restored and resumed; LONGHAUL_RESUMED=25 resumes a hundred. */
const RESUMED = Number(process.env.LONGHAUL_RESUMED ?? 2);
/** The share of a window's words that has to reach the provider of another agent. */
const SHARE = 0.99;

/** An agent, the folder of its conversations, and its command for a conversation by id. */
interface Resumable {
  readonly agent: Agent;
  readonly api: ApiName;
  readonly folder: string;
  readonly resume: (args: readonly string[], id: string) => readonly string[];
}

const RESUMABLE: readonly Resumable[] = [
  {
    agent: claudeCode,
    api: "anthropic",
    folder: ".claude/projects",
    resume: (args, id) => [...args, "--resume", id],
  },
  {
    agent: codex,
    api: "openai-responses",
    folder: ".codex/sessions",
    resume: (args, id) => [...args.slice(0, -1), "resume", id, QUESTION],
  },
  {
    agent: pi,
    api: "anthropic",
    folder: ".pi/agent/sessions",
    resume: ([program = "", ...args], id) => [program, "--session", id, ...args],
  },
  {
    agent: opencode,
    api: "openai-chat",
    folder: ".local/share/opencode",
    resume: (_, id) => ["run", "--session", id, QUESTION],
  },
  {
    agent: cline,
    api: "openai-chat",
    folder: ".cline/data/tasks",
    resume: ([program = ""], id) => [program, "--act", "--yolo", "--json", "--taskId", id, QUESTION],
  },
  {
    agent: geminiCli,
    api: "google",
    folder: ".gemini/tmp",
    resume: ([program = "", ...args], id) => [program, "--resume", id, ...args],
  },
];

/** The folders of a test, and the screen of longhaul's commands there. */
function makePlace() {
  const [home, project] = [testFolder(), testFolder().replaceAll(" ", "-")];
  mkdirSync(project, { recursive: true });
  onTestFinished(() => rmSync(project, { recursive: true, force: true }));
  return { home, project, screen: { env: { HOME: home }, home, cwd: project } };
}

type Place = ReturnType<typeof makePlace>;

/** Points an agent at an address. */
function configure({ agent, api }: Resumable, { home, project }: Place, url = "http://127.0.0.1:9") {
  const pointed = { home, project, url, api, installed: findInstalled(agent) ?? "" };
  for (const [path, text] of Object.entries(agent.files(pointed))) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  return pointed;
}

/** Takes a turn, and once more without a request: Cline sometimes hangs when it starts with a task on a busy machine. */
async function takeTurn(one: Resumable, place: Place, turn: { word?: string; resumed?: string } = {}) {
  return (await tryTurn(one, place, turn)) ?? (turn.resumed && (await tryTurn(one, place, turn)));
}

/** Runs a turn of an agent, of a new conversation or of the one that a command of longhaul resumes. */
async function tryTurn(one: Resumable, place: Place, { word = "heliotrope", resumed = "" } = {}) {
  const { home, project } = place;
  const upstream = await startUpstream({ project, files: ["notes.txt"] });
  try {
    const pointed = configure(one, place, upstream.url);
    await writeNotes(project, word, { files: ["notes.txt"], lines: 30 });
    const command = one.agent.command(pointed, resumed === "" ? PROMPTS[0] : QUESTION, true) as Command;
    const [, quoted, plain] = / opencode import (?:'([^']+)'|(\S+))/.exec(resumed) ?? [];
    const file = quoted ?? plain;
    if (file !== undefined)
      execFileSync(command.program, ["import", file], {
        cwd: project,
        env: { ...process.env, HOME: home, ...command.env },
      });
    const args = resumed === "" ? command.args : one.resume(command.args, resumed.split(" ").at(-1) ?? "");
    await runClient({ ...command, args }, home, { cwd: project });
    return upstream.requests.find(({ body }) => body.includes(QUESTION))?.body;
  } finally {
    await upstream.close();
  }
}

function listBytes(folder: string): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    (file) => file.isFile() && /\.jsonl?$/.test(file.name),
  );
  return Object.fromEntries(
    files.map(({ parentPath, name }) => [
      join(parentPath, name),
      readFileSync(join(parentPath, name), "latin1"),
    ]),
  );
}

/** Counts the words in all texts of a value, those of JSON within texts too. */
function countWords(value: unknown, counts = new Map<string, number>()): Map<string, number> {
  if (typeof value === "string") {
    if (/^\s*[[{]/.test(value)) {
      try {
        return countWords(JSON.parse(value), counts);
      } catch {
        // A text that only begins like JSON.
      }
    }
    for (const word of value.match(/[\p{L}\p{N}]+/gu) ?? []) counts.set(word, (counts.get(word) ?? 0) + 1);
  } else if (typeof value === "object" && value !== null)
    for (const part of Object.values(value)) countWords(part, counts);
  return counts;
}

/** The texts of the messages that the next call of a conversation would send. */
async function readWindowTexts({ home, project }: Place): Promise<readonly unknown[]> {
  await using kernel = await openKernel({ path: join(home, ".longhaul") });
  const { value } = await jsonHere(["sessions"], { env: { HOME: home }, home, cwd: project });
  await using session = await kernel.session(value.sessions[0].id);
  const { messages } = await session.window({ model: "unknown" }).fit({ dryRun: true });
  return messages.flatMap(({ role, parts }) =>
    role === "system"
      ? []
      : parts.map((part) =>
          part.type === "text"
            ? part.text
            : part.type === "tool-call"
              ? part.input
              : part.type === "tool-result"
                ? part.output.map((piece) => (piece.type === "text" ? piece.text : ""))
                : "",
        ),
  );
}

proofTest.for(RESUMABLE)(
  "$agent.name resumes conversations that were deleted and given back",
  async (one, { skip }) => {
    if (findInstalled(one.agent) === undefined)
      return skip("it is not installed; npm run clients installs it");
    const place = makePlace();
    const words = Array.from({ length: RESUMED }, (_, index) => `heliotrope${index}`);
    for (const word of words) await takeTurn(one, place, { word });
    await jsonHere(["import", "--yes", "--no-index"], place.screen);
    const folder = join(place.home, one.folder);
    const before = listBytes(folder);
    rmSync(folder, { recursive: true });
    const { value } = await jsonHere(["continue", "--deleted"], place.screen);
    expect(value).toMatchObject({
      written: words.map(() => ({ isOriginal: one.agent !== opencode })),
      failed: [],
    });
    if (one.agent !== opencode) expect(listBytes(folder)).toMatchObject(before);
    const resumed: string[] = [];
    for (const { command } of value.written) {
      const body = String(await takeTurn(one, place, { resumed: command }));
      const answers = words.filter((word) => body.includes(`The word of the day is ${word}.`));
      expect(answers).toHaveLength(1);
      expect(body).toContain(PROMPTS[0]);
      resumed.push(...answers);
    }
    expect(resumed.sort()).toEqual(words.sort());
  },
);

proofTest.for(RESUMABLE)(
  "a conversation of $agent.name continues in every other agent",
  async (from, { skip }) => {
    if (findInstalled(from.agent) === undefined)
      return skip("it is not installed; npm run clients installs it");
    const place = makePlace();
    await takeTurn(from, place);
    await jsonHere(["import", "--yes", "--no-index"], place.screen);
    const window = countWords(await readWindowTexts(place));
    const total = [...window.values()].reduce((sum, count) => sum + count, 0);
    expect(total).toBeGreaterThan(200);
    const rows: unknown[] = [];
    const targets = RESUMABLE.filter((to) => to !== from && findInstalled(to.agent) !== undefined);
    for (const to of targets) {
      configure(to, place);
      const { value } = await jsonHere(["continue", "last", "--in", to.agent.name], place.screen);
      const body = (await takeTurn(to, place, { resumed: value.command })) || Buffer.from("{}");
      const sent = countWords(JSON.parse(body.toString()));
      const lost = [...window].map(([word, count]) => ({ word, count: count - (sent.get(word) ?? 0) }));
      const missing = lost.filter(({ count }) => count > 0);
      const share = 1 - missing.reduce((sum, { count }) => sum + count, 0) / total;
      rows.push({
        to: to.agent.name,
        share: share >= SHARE ? "kept" : { share, missing: missing.slice(0, 20) },
        faults: brokenRules(to.api, body),
      });
    }
    expect(rows).toEqual(targets.map((to) => ({ to: to.agent.name, share: "kept", faults: [] })));
  },
);
