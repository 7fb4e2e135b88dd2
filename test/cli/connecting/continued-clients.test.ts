import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { Agent, ApiName, Command } from "../../../clients/agents/agent.ts";
import { claudeCode } from "../../../clients/agents/claude-code.ts";
import { cline } from "../../../clients/agents/cline.ts";
import { codex } from "../../../clients/agents/codex.ts";
import { opencode } from "../../../clients/agents/opencode.ts";
import { pi } from "../../../clients/agents/pi.ts";
import { findInstalled } from "../../../clients/install.ts";
import { writeNotes } from "../../../clients/notes.ts";
import { brokenRules } from "../../../clients/provider-rules.ts";
import { PROMPTS } from "../../../clients/upstream/answer.ts";
import { startUpstream } from "../../../clients/upstream/scripted-upstream.ts";
import { testFolder } from "../../support/folder.ts";
import { proofTest } from "../../support/proof.ts";
import { jsonHere } from "../support/here.ts";
import { runClient } from "./real-clients.ts";

const QUESTION = "And which color has it?";
const ANSWER = "The word of the day is heliotrope.";

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
];

/** Runs a turn of an agent, of a new conversation or of the one that a command of longhaul resumes. */
async function takeTurn(one: Resumable, home: string, project: string, resumed?: string) {
  const installed = findInstalled(one.agent);
  if (installed === undefined) return undefined;
  const upstream = await startUpstream({ project, files: ["notes.txt"] });
  onTestFinished(upstream.close);
  const pointed = { home, project, url: upstream.url, api: one.api, installed };
  for (const [path, text] of Object.entries(one.agent.files(pointed))) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  await writeNotes(project, "heliotrope", { files: ["notes.txt"], lines: 30 });
  const command = one.agent.command(pointed, resumed === undefined ? PROMPTS[0] : QUESTION, true) as Command;
  if (resumed?.includes("opencode import"))
    execFileSync(
      command.program,
      ["import", / import (?:'([^']+)'|(\S+))/.exec(resumed)?.slice(1).find(Boolean) ?? ""],
      {
        cwd: project,
        env: { ...process.env, HOME: home, ...command.env },
      },
    );
  const args =
    resumed === undefined ? command.args : one.resume(command.args, resumed.split(" ").at(-1) ?? "");
  await runClient({ ...command, args }, home, { cwd: project });
  return upstream.requests.filter(({ body }) => body.includes(QUESTION));
}

/** A conversation of an agent, imported and gone from its folder. */
async function talk(one: Resumable) {
  const [home, project] = [testFolder(), testFolder().replaceAll(" ", "-")];
  mkdirSync(project, { recursive: true });
  if ((await takeTurn(one, home, project)) === undefined) return undefined;
  const screen = { env: { HOME: home }, home, cwd: project };
  await jsonHere(["import", "--yes", "--no-index"], screen);
  return { home, project, screen };
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

proofTest.for(RESUMABLE)("$agent.name resumes a conversation that it had deleted", async (one, { skip }) => {
  const talked = await talk(one);
  if (!talked) return skip("it is not installed; npm run clients installs it");
  const { home, project, screen } = talked;
  const folder = join(home, one.folder);
  const before = listBytes(folder);
  rmSync(folder, { recursive: true });
  const { value } = await jsonHere(["continue", "--deleted"], screen);
  expect(value).toMatchObject({ written: [{ isOriginal: one.agent !== opencode }], failed: [] });
  if (one.agent !== opencode) expect(listBytes(folder)).toMatchObject(before);
  const [request] = (await takeTurn(one, home, project, value.written[0].command)) ?? [];
  for (const words of [PROMPTS[0], ANSWER]) expect(request?.body.toString()).toContain(words);
});

const PAIRS = RESUMABLE.flatMap((from) => RESUMABLE.flatMap((to) => (from === to ? [] : [{ from, to }])));

proofTest.for(PAIRS)(
  "$to.agent.name continues a conversation of $from.agent.name",
  async ({ from, to }, { skip }) => {
    const talked = await talk(from);
    if (!talked || findInstalled(to.agent) === undefined) return skip("one of them is not installed");
    const { home, project, screen } = talked;
    const { value } = await jsonHere(["continue", "last", "--in", to.agent.name], screen);
    const [request] = (await takeTurn(to, home, project, value.command)) ?? [];
    for (const words of [PROMPTS[0], ANSWER]) expect(request?.body.toString()).toContain(words);
    expect(brokenRules(to.api, request?.body ?? Buffer.from("{}"))).toEqual([]);
  },
);
