import { createHash, randomBytes, randomUUID } from "node:crypto";
import { basename, dirname, join, resolve, sep } from "node:path";
import type { RawBody } from "../../kernel/faces/log.ts";
import {
  type Entry,
  formatEntryId,
  isLonghaulError,
  type Json,
  type Kernel,
  LonghaulError,
  type Message,
  type MessageBody,
  type Part,
  type SessionId,
  type SessionRecord,
  type ToolCallPart,
} from "../../kernel/index.ts";
import { checkFields } from "../../model/argument-checks.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { isWithin, joinInside } from "../../model/base/join-inside.ts";
import { formatResumeCommand } from "../../model/resume-command.ts";
import { findProjectFolder } from "../../model/session-origin.ts";
import { toArray, toObject, toText } from "../../wire/fields.ts";
import { checkKernel } from "../check-arguments.ts";
import { readAgentSettings } from "../content/agent-settings.ts";
import { createExportedSession, exportSession } from "../export-session.ts";
import { FORMATS } from "../formats.ts";
import { type KeptFile, readOriginals } from "../importing/originals.ts";
import { getSystem } from "../importing/source-places.ts";
import type { Format, System } from "../port/format.ts";
import type { ExportedSession, Writer } from "../port/writer.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { WRITERS } from "../writers.ts";
import { placeKeptFile } from "./place-kept-file.ts";
import { type ContinuedAgent, convertToolCall } from "./tool-counterparts.ts";

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
  const model =
    agent === "opencode" ? await findOpencodeModel(system, findWorkFolder(record) ?? here) : undefined;
  const target = { here, agent, isWhole, now, model };
  const { session, cwd, messages, reasoning, toldCalls } = await continueSession(kernel, id, target);
  if (messages === 0) throw createRefusal(id, "has no messages to continue with");
  const writer = WRITERS.find(({ name }) => name === agent) as Writer;
  const folder = await findFolder(agent, system, cwd ?? system.home);
  const files = await collectFiles(writer.write(session), folder);
  // Cline knows a conversation by the name of its folder.
  const written = agent === "cline" ? basename(dirname(files[0]?.path ?? "")) : session.record.id;
  return {
    agent,
    files,
    ...(agent === "cline" && { list: buildTaskItem(system, written, session.record, cwd) }),
    isOriginal: false,
    command: buildCommand(agent, files, written, cwd),
    notes: [
      reasoning > 0 && `${reasoning} parts of reasoning stay behind: only their own provider accepts them.`,
      toldCalls > 0 &&
        `${toldCalls} tool calls are told in words: ${agent} has no such tool, or they have no output.`,
      agent === "opencode" &&
        !model &&
        "opencode names no model yet: choose one there, or run it with --model.",
    ].filter((note) => note !== false),
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
    const files: ContinuationFile[] = [];
    const notes: string[] = [];
    for (const { file, id } of kept) {
      const isSide = !file.isCopy && !isMainFile(file, main, id === record.id);
      try {
        const path = file.isCopy
          ? await joinInside(findExportFolder(system), `${basename(id)}.json`)
          : await placeKeptFile(file.path, format, homes);
        files.push({ path, isSide, pieces: () => file.bytes() });
      } catch (error) {
        if (!isSide || !isLonghaulError(error, "PATH_REFUSED")) throw error;
        notes.push(error.message);
      }
    }
    const command = buildCommand(format.name, files, own, cwd);
    const data = homes.find((home) => isWithin(files[0]?.path ?? "", home));
    const list = format.name === "cline" && { list: buildTaskItem(system, own, record, cwd, data) };
    // A conversation of a database is kept as a file that its agent imports.
    const isOriginal = kept.every(({ file }) => !file.isCopy);
    return { agent: format.name, files, ...list, isOriginal, command, notes };
  }
  const writer = WRITERS.find(({ name }) => name === format.name);
  if (!writer)
    throw createRefusal(
      record.id,
      `was imported without its files, and longhaul does not write the format of ${format.title}; choose another agent with --in`,
    );
  const folder = await findFolder(format.name as ContinuedAgent, system, cwd ?? system.home);
  const files = await collectFiles(exportSession(kernel, record.id, writer), folder);
  const note = "The files of its agent are not kept in the store; these were written from the log.";
  const command = buildCommand(format.name, files, own, cwd);
  return { agent: format.name, files, isOriginal: false, command, notes: [note] };
}

/** A kept file and the session that keeps it. */
interface FamilyFile {
  readonly file: KeptFile;
  readonly id: SessionId;
}

/** The kept files of a conversation and its sub-agents. */
async function readFamily(kernel: Kernel, id: SessionId, home: string): Promise<readonly FamilyFile[]> {
  await using session = await kernel.session(id);
  const kept = new Map<string, FamilyFile>();
  const add = (one: FamilyFile) =>
    kept.set(one.file.isCopy ? `${one.id} ${one.file.path}` : one.file.path, one);
  const readFiles = (own: typeof session) => readOriginals(own, (digest) => kernel.blobs.text(digest), home);
  for (const file of await readFiles(session))
    add({
      id,
      file: {
        ...file,
        // The session is closed when the plan is made.
        async *bytes() {
          await using own = await kernel.session(id);
          const same = (await readFiles(own)).find(({ path }) => path === file.path);
          if (same) yield* same.bytes();
        },
      },
    });
  for (let before: SessionId | undefined; ; ) {
    const page = await session.children(dropUndefined({ limit: 100, before }));
    for (const child of page)
      if (child.relation === "child") for (const one of await readFamily(kernel, child.id, home)) add(one);
    if (page.length < 100) return [...kept.values()];
    before = page.at(-1)?.id;
  }
}

function isMainFile({ path }: KeptFile, main: string | undefined, isOwn: boolean): boolean {
  return isOwn && (main === undefined || basename(path) === basename(main) || isWithin(path, main));
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
  return name !== undefined && /^[\w-][\w.-]*$/.test(name)
    ? name
    : createHash("sha256").update(cwd).digest("hex");
}

/** The model that opencode would choose itself: it continues with the one that the messages name, and fails without it. */
async function findOpencodeModel(
  { home, env }: System,
  cwd: string | undefined,
): Promise<string | undefined> {
  const config = join(env.XDG_CONFIG_HOME || join(home, ".config"), "opencode");
  const paths = [config, env.OPENCODE_CONFIG, cwd].flatMap((path) => {
    if (!path || path === env.OPENCODE_CONFIG) return path ? [path] : [];
    return ["config.json", "opencode.json", "opencode.jsonc"].map((name) => join(path, name));
  });
  const { model, provider } = await readAgentSettings(paths);
  if (toText(model) !== undefined) return String(model);
  const state = join(env.XDG_STATE_HOME || join(home, ".local", "state"), "opencode", "model.json");
  const { recent } = await readAgentSettings([state]);
  const last = toObject(toArray(recent)[0]);
  if (last) return `${last.providerID}/${last.modelID}`;
  const [named, settings] = Object.entries(toObject(provider) ?? {})[0] ?? [];
  const [first] = Object.keys(toObject(toObject(settings)?.models) ?? {});
  return first && `${named}/${first}`;
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
  const files: ContinuationFile[] = [];
  for (const [file, own] of texts)
    files.push({
      path: await joinInside(folder, file.split(sep).join("/")),
      isSide: false,
      async *pieces() {
        yield* own;
      },
    });
  return files;
}

/** Cline resumes only tasks that are in its list. */
function buildTaskItem(
  system: System,
  id: string,
  { title, createdAt }: SessionRecord,
  cwd: string | undefined,
  data = join(system.home, ".cline", "data"),
): NonNullable<Continuation["list"]> {
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

/** A conversation as another agent gets it. */
interface ContinuedSession {
  readonly session: ExportedSession;
  readonly cwd: string | undefined;
  readonly messages: number;
  /** Parts of the model's reasoning, which only its own provider accepts. */
  readonly reasoning: number;
  /** Calls that the other agent has no tool for; they are told in words. */
  readonly toldCalls: number;
}

interface ContinuedSessionOptions {
  readonly agent: ContinuedAgent;
  readonly isWhole: boolean;
  readonly now: number;
  /** The folder to continue in if the conversation does not name its own. */
  readonly here?: string | undefined;
  /** The model that the other agent continues with, if its messages have to name one. */
  readonly model?: string | undefined;
}

/** Builds the conversation for another agent: its window, or all of its line. */
async function continueSession(
  kernel: Kernel,
  id: SessionId,
  { agent, isWhole, now, model, here }: ContinuedSessionOptions,
): Promise<ContinuedSession> {
  const exported = await createExportedSession(kernel, id);
  const found = isWhole ? await readLine(exported) : await readWindow(kernel, id);
  const messages: Message[] = [];
  for (const message of found) {
    const parts: Part[] = [];
    for (const part of message.parts) parts.push(await exported.restore(part));
    messages.push({ ...message, parts });
  }
  const converted = convertMessages(messages, agent);
  const cwd = findWorkFolder(exported.record) ?? here;
  const { title } = exported.record;
  const own = agent === "opencode" ? `ses_${randomBytes(13).toString("hex")}` : randomUUID();
  const meta: { [key: string]: Json } = dropUndefined({
    continuedFrom: id,
    cwd,
    model,
  });
  const record = dropUndefined({ id: own, createdAt: now, lineSeq: 0, meta, title });
  const bodies: (MessageBody | RawBody)[] = converted.messages.map((message) => ({
    kind: "message",
    message,
  }));
  if (agent === "claude-code" && cwd !== undefined) bodies.splice(1, 0, describeSurroundings(cwd));
  const entries = bodies.map((body, index): Entry => {
    const seq = index + 1;
    return { id: formatEntryId(own, seq), session: own, seq, at: now + index, ...body };
  });
  const session: ExportedSession = {
    ...exported,
    record,
    line: [{ session: own, from: 1, to: entries.length }],
    async *entries() {
      yield* entries;
    },
    async *children() {},
  };
  return { ...converted, session, cwd, messages: converted.messages.length };
}

/** The folder that a conversation works in; Cline names it in its list of tasks. */
function findWorkFolder(record: SessionRecord): string | undefined {
  const task = toObject(record.meta?.["cline-history"]);
  return findProjectFolder(record) ?? toText(task?.cwdOnTaskInitialization);
}

/** The line with which Claude Code describes the working folder; without it, it sends an empty message in its place. */
function describeSurroundings(workingDirectory: string): RawBody {
  const snapshot = {
    workingDirectory,
    isWorktree: false,
    isGitRepo: false,
    additionalWorkingDirectories: [],
    platform: process.platform,
    shell: "bash",
    osVersion: process.platform,
  };
  const value = { type: "attachment", uuid: randomUUID(), attachment: { type: "environment", snapshot } };
  return { kind: "raw", format: "claude-code", value };
}

async function readLine(exported: ExportedSession): Promise<readonly Message[]> {
  const messages: Message[] = [];
  for await (const entry of exported.entries("line"))
    if (entry.kind === "message") messages.push(entry.message);
  return messages;
}

/** The messages that the next call would send, without changing anything. */
async function readWindow(kernel: Kernel, id: SessionId): Promise<readonly Message[]> {
  await using session = await kernel.session(id);
  const { model = "unknown", ...frame } = await session.lastCall();
  return (await session.window({ ...frame, model }).fit({ dryRun: true })).messages;
}

/** Drops system prompts and reasoning, converts tool calls, and tells the rest in words. */
function convertMessages(
  messages: readonly Message[],
  agent: ContinuedAgent,
): { readonly messages: readonly Message[]; readonly reasoning: number; readonly toldCalls: number } {
  const answered = new Set(
    messages.flatMap(({ parts }) => parts).map((part) => part.type === "tool-result" && part.callId),
  );
  const calls = new Map<string, { readonly name: string; readonly isKept: boolean }>();
  const converted: Message[] = [];
  let reasoning = 0;
  let toldCalls = 0;
  const tell = (call: ToolCallPart): Part => {
    toldCalls++;
    calls.set(call.callId, { name: call.name, isKept: false });
    return { type: "text", text: `[Called the tool ${call.name} with ${JSON.stringify(call.input)}]` };
  };
  for (const { role, parts } of messages) {
    if (role === "system") continue;
    const own: Part[] = [];
    const told: Part[] = [];
    for (const part of parts.map(repairTexts)) {
      if (part.type === "reasoning") reasoning++;
      else if (part.type === "tool-call") {
        const call = answered.has(part.callId) ? convertToolCall(part, agent) : undefined;
        if (call) calls.set(call.callId, { name: call.name, isKept: true });
        own.push(call ?? tell(part));
      } else if (part.type === "tool-result") {
        const call = calls.get(part.callId);
        if (call?.isKept) own.push({ ...part, name: call.name, output: part.output.filter(isFilled) });
        else {
          const name = call?.name ?? part.name ?? "a tool";
          told.push({ type: "text", text: `[Output of ${name}]` }, ...part.output.filter(isFilled));
        }
      } else if (part.type === "raw") own.push({ type: "text", text: JSON.stringify(part.value) });
      else if (isFilled(part)) own.push(part);
    }
    if (own.length > 0) converted.push({ role, parts: own });
    if (told.length > 0) converted.push({ role: "user", parts: told });
  }
  return { messages: converted, reasoning, toldCalls };
}

/** Providers refuse blank texts. */
function isFilled(part: Part): boolean {
  return part.type !== "text" || part.text.trim() !== "";
}

/** Replaces halves of characters, such as those that a cut text ends with: providers refuse the whole request. */
function repairTexts(part: Part): Part {
  const text = JSON.stringify(part);
  // Only in JSON that was built from text is a half written as an escape.
  if (!/\\ud[89a-f]/.test(text)) return part;
  return JSON.parse(text, (_, value) => (typeof value === "string" ? value.toWellFormed() : value)) as Part;
}
