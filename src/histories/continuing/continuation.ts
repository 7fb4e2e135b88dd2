import { createHash } from "node:crypto";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { type Kernel, LonghaulError, type SessionId, type SessionRecord } from "../../kernel/index.ts";
import { checkFields } from "../../model/argument-checks.ts";
import { formatResumeCommand } from "../../model/resume-command.ts";
import { toArray, toObject, toText } from "../../wire/fields.ts";
import { checkKernel } from "../check-arguments.ts";
import { readAgentSettings } from "../content/agent-settings.ts";
import { exportSession } from "../export-session.ts";
import { FORMATS } from "../formats.ts";
import { type KeptFile, readOriginals } from "../importing/originals.ts";
import { getSystem } from "../importing/source-places.ts";
import type { Format, System } from "../port/format.ts";
import type { Writer } from "../port/writer.ts";
import { isWithin } from "../reading/folder.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { WRITERS } from "../writers.ts";
import { continueSession, findWorkFolder } from "./continued-session.ts";
import type { ContinuedAgent } from "./tool-counterparts.ts";

/** A file to be written for an agent. */
export interface ContinuationFile {
  readonly path: string;
  /** True for a file that several conversations share or that may still be there: it is never replaced. */
  readonly isSide: boolean;
  pieces(): AsyncIterable<string | Uint8Array>;
}

/** The files that let an agent continue a conversation, and the command that does it. */
export interface Continuation {
  readonly agent: string;
  readonly files: readonly ContinuationFile[];
  readonly command: string;
  /** The agent's list of conversations and the item that it needs; an item with the same id stays. */
  readonly list?: { readonly path: string; readonly item: JsonObject };
  /** True if the files have the bytes of the agent's own ones. */
  readonly isOriginal: boolean;
  /** Sentences about content that stays behind or has another form. */
  readonly notes: readonly string[];
}

/** Options of a continuation. */
export interface ContinuationOptions {
  /** The agent that continues; its own by default. */
  readonly agent?: ContinuedAgent;
  /** True for all of the line instead of the window; only for another agent. */
  readonly isWhole?: boolean;
  readonly system?: System;
  /** The folder to continue in if the conversation does not name its own. */
  readonly cwd?: string;
  /** Milliseconds since 1970; now by default. */
  readonly now?: number;
}

/** Agents that a conversation of any origin can be continued in. */
export const CONTINUED_AGENTS: readonly ContinuedAgent[] = [
  "claude-code",
  "codex",
  "opencode",
  "gemini-cli",
  "pi",
  "cline",
];

/** Plans how an agent continues a conversation. Writes nothing; throws ARGUMENT_INVALID if it cannot. */
export async function planContinuation(
  kernel: Kernel,
  id: SessionId,
  options: ContinuationOptions = {},
): Promise<Continuation> {
  checkKernel(kernel);
  checkFields("options", options, {
    agent: "text?",
    isWhole: "boolean?",
    system: "object?",
    cwd: "text?",
    now: "number?",
  });
  const { agent, isWhole = false, system = getSystem(), cwd: here, now = Date.now() } = options;
  const record = await kernel.find(id);
  if (!record)
    throw new LonghaulError("SESSION_NOT_FOUND", `There is no session ${JSON.stringify(id)} in this store.`, {
      details: { session: id },
    });
  const source = toObject(record.meta?.source);
  const own = FORMATS.find(({ name }) => name === source?.format);
  if (agent === undefined || agent === own?.name) {
    if (own) return restoreConversation(kernel, record, own, system, here);
    throw createRefusal(id, "did not come from an agent; name one with --in");
  }
  const { session, cwd, messages, reasoning, toldCalls } = await continueSession(kernel, id, {
    here,
    agent,
    isWhole,
    now,
    ...(agent === "opencode" && { model: await findOpencodeModel(system) }),
  });
  if (messages === 0) throw createRefusal(id, "has no messages to continue with");
  const writer = WRITERS.find(({ name }) => name === agent) as Writer;
  const folder = await findFolder(agent, system, cwd ?? system.home);
  const files = await collectFiles(writer.write(session), folder);
  const written = findWrittenId(agent, files, session.record.id);
  return {
    agent,
    files,
    ...(agent === "cline" && { list: buildTaskItem(system, written, session.record, cwd) }),
    isOriginal: false,
    command: buildCommand(agent, files, written, cwd),
    notes: [
      ...(reasoning > 0
        ? [`${reasoning} parts of reasoning stay behind: only their own provider accepts them.`]
        : []),
      ...(toldCalls > 0
        ? [`${toldCalls} tool calls are told in words, because ${agent} has no such tool.`]
        : []),
    ],
  };
}

/** Puts a conversation back where its agent had it: with its own bytes, or else as a writer writes it. */
async function restoreConversation(
  kernel: Kernel,
  record: SessionRecord,
  format: Format,
  system: System,
  here: string | undefined,
): Promise<Continuation> {
  const source = toObject(record.meta?.source);
  const own = toText(source?.id) ?? record.id;
  const cwd = toText(source?.cwd) ?? findWorkFolder(record) ?? here;
  const homes = format.homes(system);
  const kept = await readFamily(kernel, record.id, system.home);
  const main = toText(source?.path);
  if (kept.length > 0) {
    const files = kept.map(({ file, id }): ContinuationFile => {
      const path = file.isCopy
        ? join(findExportFolder(system), `${basename(id)}.json`)
        : relocate(file.path, format, homes);
      return {
        path,
        isSide: !file.isCopy && !isMainFile(file, main, id === record.id),
        pieces: () => file.bytes(),
      };
    });
    const command = buildCommand(format.name, files, own, cwd);
    const list = format.name === "cline" && { list: buildTaskItem(system, own, record, cwd, files[0]?.path) };
    // A conversation of a database is kept as a file that its agent imports.
    const isOriginal = kept.every(({ file }) => !file.isCopy);
    return { agent: format.name, files, ...list, isOriginal, command, notes: [] };
  }
  const writer = WRITERS.find(({ name }) => name === format.name);
  if (!writer)
    throw createRefusal(
      record.id,
      `was imported without its files, and longhaul does not write the format of ${format.title}; choose another agent with --in`,
    );
  const folder = await findFolder(format.name as ContinuedAgent, system, cwd ?? system.home);
  const files = await collectFiles(exportSession(kernel, record.id, writer), folder);
  const notes = [
    "The files of its agent were not kept when it was imported; these were written from the log.",
  ];
  const command = buildCommand(format.name, files, own, cwd);
  return { agent: format.name, files, isOriginal: false, command, notes };
}

/** The kept files of a conversation and its sub-agents. */
async function readFamily(
  kernel: Kernel,
  id: SessionId,
  home: string,
): Promise<readonly { readonly file: KeptFile; readonly id: SessionId }[]> {
  await using session = await kernel.session(id);
  const kept = new Map<string, { readonly file: KeptFile; readonly id: SessionId }>();
  for (const file of await readOriginals(session, (digest) => kernel.blobs.text(digest), home))
    kept.set(file.isCopy ? `${id} ${file.path}` : file.path, { file, id });
  for (let before: SessionId | undefined; ; ) {
    const page = await session.children({ limit: 100, ...(before !== undefined && { before }) });
    for (const child of page)
      if (child.relation === "child")
        for (const one of await readFamily(kernel, child.id, home))
          kept.set(one.file.isCopy ? `${one.id} ${one.file.path}` : one.file.path, one);
    if (page.length < 100) return reopen(kernel, [...kept.values()], home);
    before = page.at(-1)?.id;
  }
}

/** Lets each file open its session when it is read, because sessions are closed when the plan is made. */
function reopen(
  kernel: Kernel,
  kept: readonly { readonly file: KeptFile; readonly id: SessionId }[],
  home: string,
): readonly { readonly file: KeptFile; readonly id: SessionId }[] {
  return kept.map(({ file, id }) => ({
    id,
    file: {
      ...file,
      async *bytes() {
        await using session = await kernel.session(id);
        const files = await readOriginals(session, (digest) => kernel.blobs.text(digest), home);
        const same = files.find(({ path }) => path === file.path);
        if (same) yield* same.bytes();
      },
    },
  }));
}

function isMainFile({ path }: KeptFile, main: string | undefined, isOwn: boolean): boolean {
  return isOwn && (main === undefined || basename(path) === basename(main) || isWithin(path, main));
}

/**
 * Moves a path below the agent's folder on this computer, if it was read from elsewhere. A store may come from somebody
 * else, so no path leads outside. Only Aider keeps its file in the project.
 */
function relocate(kept: string, format: Format, homes: readonly string[]): string {
  const path = resolve(kept);
  const [home] = homes;
  if (format.name === "aider" && /^\.aider[\w.]*\.md$/.test(basename(path))) return path;
  if (home === undefined || homes.some((one) => isWithin(path, one))) return path;
  const pieces = path.split(/[\\/]/);
  const at = pieces.lastIndexOf(basename(home));
  return at >= 0 ? join(home, ...pieces.slice(at + 1)) : join(home, basename(dirname(path)), basename(path));
}

/** The folder that holds the files a writer names. */
async function findFolder(agent: ContinuedAgent, system: System, cwd: string): Promise<string> {
  const format = FORMATS.find(({ name }) => name === agent);
  const [home = system.home] = format?.homes(system) ?? [];
  switch (agent) {
    case "claude-code":
      return join(home, cwd.replace(/[^A-Za-z0-9]/g, "-"));
    case "pi":
      return join(home, `--${cwd.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-")}--`);
    case "gemini-cli":
      return join(home, await findGeminiProject(home, cwd));
    case "cline":
      return join(system.home, ".cline", "data", "tasks");
    case "opencode":
      return findExportFolder(system);
    case "codex":
      return home;
  }
}

/** Gemini CLI names a project's folder in its list of projects; older versions by the hash of the path. */
async function findGeminiProject(home: string, cwd: string): Promise<string> {
  const { projects } = await readAgentSettings([join(dirname(home), "projects.json")]);
  const name = toText(toObject(projects)?.[resolve(cwd)]);
  return name !== undefined && /^[\w.-]+$/.test(name) ? name : createHash("sha256").update(cwd).digest("hex");
}

/** The model that opencode is set to, or that it used last: it continues with the one that the messages name. */
async function findOpencodeModel({ home, env }: System): Promise<string | undefined> {
  const config = join(env.XDG_CONFIG_HOME || join(home, ".config"), "opencode");
  const names = ["config.json", "opencode.json", "opencode.jsonc"].map((name) => join(config, name));
  const { model } = await readAgentSettings(names);
  if (toText(model) !== undefined) return String(model);
  const state = join(env.XDG_STATE_HOME || join(home, ".local", "state"), "opencode", "model.json");
  const { recent } = await readAgentSettings([state]);
  const last = toObject(toArray(recent)[0]);
  return last && `${last.providerID}/${last.modelID}`;
}

/** Files for `opencode import`, which are not part of opencode's own data. */
function findExportFolder({ home, env }: System): string {
  return join(env.XDG_DATA_HOME || join(home, ".local", "share"), "longhaul", "opencode");
}

/** Collects the text of a writer's files; a conversation of one window fits into memory. */
async function collectFiles(
  pieces: AsyncIterable<{ readonly file: string; readonly text: string }>,
  folder: string,
): Promise<readonly ContinuationFile[]> {
  const texts = new Map<string, string[]>();
  for await (const { file, text } of pieces) texts.set(file, [...(texts.get(file) ?? []), text]);
  return [...texts].map(([file, own]) => {
    const path = join(folder, file);
    if (relative(folder, path).split(sep)[0] === "..")
      throw new LonghaulError(
        "ARGUMENT_INVALID",
        `The file ${JSON.stringify(file)} is not below its folder.`,
        {
          details: { option: "session" },
        },
      );
    return {
      path,
      isSide: false,
      async *pieces() {
        yield* own;
      },
    };
  });
}

/** Cline resumes only tasks that are in its list. */
function buildTaskItem(
  system: System,
  id: string,
  { title, createdAt }: SessionRecord,
  cwd: string | undefined,
  file?: string,
): NonNullable<Continuation["list"]> {
  const data = file === undefined ? join(system.home, ".cline", "data") : dirname(dirname(dirname(file)));
  const counts = { tokensIn: 0, tokensOut: 0, totalCost: 0 };
  const item = {
    id,
    ts: createdAt,
    task: title ?? id,
    ...counts,
    ...(cwd && { cwdOnTaskInitialization: cwd }),
  };
  return { path: join(data, "state", "taskHistory.json"), item };
}

/** The id by which the agent knows the written conversation. */
function findWrittenId(agent: ContinuedAgent, files: readonly ContinuationFile[], id: string): string {
  return agent === "cline" ? basename(dirname(files[0]?.path ?? id)) : id;
}

function buildCommand(
  agent: string,
  files: readonly ContinuationFile[],
  id: string,
  cwd: string | undefined,
): string {
  const before = agent === "opencode" ? files.map(({ path }) => ["opencode", "import", path]) : [];
  return formatResumeCommand(agent, id, cwd, before) ?? `open ${agent} in ${cwd ?? "its folder"}`;
}

function createRefusal(session: SessionId, why: string): LonghaulError {
  return new LonghaulError("ARGUMENT_INVALID", `${session} ${why}.`, { details: { option: "session" } });
}
