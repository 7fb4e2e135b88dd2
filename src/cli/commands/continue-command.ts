import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import {
  CONTINUED_AGENTS,
  type Continuation,
  findLocalSources,
  importSources,
  planContinuation,
  recordCopies,
} from "../../histories/index.ts";
import { isLonghaulError, type Kernel, type SessionId } from "../../kernel/index.ts";
import { readOutsideFile, readOutsideFileSync } from "../../model/base/outside-file.ts";
import { findSessionOwner } from "../../model/session-key.ts";
import { defineCommand } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { writeAtomically } from "../connecting/agent-file.ts";
import { EXIT } from "../exit-code.ts";
import { StagingFolder, TargetExistsError } from "../exporting/staging-folder.ts";
import { findNamed } from "../find-named.ts";
import { findSession, listSessions } from "../find-session.ts";
import { openExistingStore } from "../open-store.ts";
import { findSessionScope, PERSON_OPTION } from "../sessions/session-scope.ts";
import { getActor } from "../team/person-options.ts";
import { escapeLine, toSafeJson } from "../terminal/escape.ts";
import { formatQuantity } from "../terminal/format-count.ts";
import { printTo } from "../terminal/printer.ts";
import { UsageError } from "../usage-error.ts";

const AGENTS = CONTINUED_AGENTS.join(", ");
const STAYS = "it stays as it is; rename it if the conversation is to be written again";

/** The result for one conversation. */
interface ContinuedConversation {
  readonly session: SessionId;
  readonly agent: string;
  readonly command: string;
  readonly files: readonly string[];
  readonly isOriginal: boolean;
  readonly notes: readonly string[];
}

/** Gives a conversation back to its agent, or to another one. */
export const continueCommand = defineCommand({
  name: "continue",
  summary: "give a conversation back to its agent, or to another one",
  usage: ["continue <session> [--in AGENT] [--whole]", "continue --deleted [--dry-run]"],
  about:
    "Writes the conversation into the agent's own folder: byte for byte as it was imported, if it came from that agent. Never overwrites a file. Another agent gets the window, or with --whole all messages. Prints the command that resumes the conversation.",
  options: {
    in: { type: "string", value: "AGENT", help: `the agent that continues: ${AGENTS} (default: its own)` },
    whole: { type: "boolean", help: "with --in: all messages instead of the window" },
    deleted: { type: "boolean", help: "give back every conversation that is gone from its agent's folder" },
    "dry-run": { type: "boolean", help: "list the files, write nothing" },
    ...PERSON_OPTION,
  },
  maxOperands: 1,
  examples: [
    "longhaul continue last",
    "longhaul continue last --in codex",
    "longhaul continue --deleted --dry-run",
  ],
  async run(context, { operands: [wanted], options }) {
    const isDryRun = options["dry-run"] === true;
    if (options.deleted && (wanted !== undefined || options.in !== undefined))
      throw new UsageError(
        "--deleted gives every conversation back to its own agent; name no session and no --in",
      );
    if (!options.deleted && wanted === undefined)
      throw new UsageError('name a session, or use --deleted; "longhaul sessions" lists them');
    const agents = CONTINUED_AGENTS.map((name) => ({ name }));
    const agent = options.in === undefined ? undefined : findNamed("in", options.in, agents).name;
    if (options.whole && agent === undefined) throw new UsageError("--whole needs --in");
    await using kernel = await openExistingStore(context, options);
    const { home, platform, env } = context;
    const plan = (id: SessionId) =>
      planContinuation(kernel, id, {
        ...(agent && { agent }),
        isWhole: options.whole === true,
        system: { home, platform, env },
        cwd: context.cwd,
      });
    if (!options.deleted) {
      const scope = await findSessionScope(kernel, context, options);
      const session = await findSession(kernel, wanted as string, scope);
      if (findSessionOwner(session) !== "local" && (await kernel.team.isInUse()))
        await kernel.team.record({
          actor: getActor(),
          act: "session.export",
          target: session,
          details: { format: agent ?? "its own" },
        });
      const written = await writeContinuation(session, await plan(session), isDryRun);
      if (!isDryRun && !written.isOriginal)
        await recordCopies(kernel, session, written.files, { by: getActor() });
      if (!isDryRun) await importAgain(kernel, [written], context);
      if (options.json) await printTo(context.stdout, `${toSafeJson(written)}\n`);
      else await printTo(context.stdout, describeWritten(written, isDryRun));
      return EXIT.fine;
    }
    const written: ContinuedConversation[] = [];
    const failed: { readonly session: SessionId; readonly reason: string }[] = [];
    for (const session of await findDeleted(kernel, context)) {
      context.signal.throwIfAborted();
      try {
        written.push(await writeContinuation(session, await plan(session), isDryRun));
      } catch (error) {
        if (!isLonghaulError(error) && !(error instanceof TargetExistsError)) throw error;
        failed.push({ session, reason: error.message });
      }
    }
    if (!isDryRun) await importAgain(kernel, written, context);
    if (options.json) await printTo(context.stdout, `${toSafeJson({ written, failed, isDryRun })}\n`);
    else {
      const lines = [
        ...written.flatMap(({ command, files, notes }) => [
          command,
          ...[...files, ...notes].map((line) => `  ${line}`),
        ]),
        ...failed.map(({ session, reason }) => `not given back: ${session}: ${reason}`),
        `${formatQuantity(written.length, "conversation")} ${isDryRun ? "would be given back" : "given back"}.`,
      ];
      await printTo(context.stdout, lines.map((line) => `${escapeLine(line)}\n`).join(""));
    }
    return failed.length > 0 ? EXIT.incomplete : EXIT.fine;
  },
});

/** Finds the conversations that were imported from agents and are gone from their folders. */
async function findDeleted(
  kernel: Kernel,
  { home, platform, env, signal }: CliContext,
): Promise<readonly SessionId[]> {
  const sources = await findLocalSources({ home, platform, env }, signal);
  const there = new Set(sources.map(({ source }) => `${source.format}\n${source.id}`));
  const deleted: SessionId[] = [];
  for await (const { id, relation, meta } of listSessions(kernel)) {
    const source = meta?.source as
      | { readonly format?: string; readonly id?: string; readonly path?: string }
      | undefined;
    if (relation === "child" || source?.format === undefined || source.path === undefined) continue;
    if (there.has(`${source.format}\n${source.id}`)) continue;
    // A file elsewhere, such as a backup that was imported, is not gone.
    const isShared = /\.(db|sqlite3?|vscdb)$/i.test(source.path);
    if (isShared || !existsSync(source.path)) deleted.push(id);
  }
  return deleted;
}

/** Writes the files of a continuation: all of them or none. A file that is there already with the same bytes stays. */
async function writeContinuation(
  session: SessionId,
  { files, list, ...facts }: Continuation,
  isDryRun: boolean,
): Promise<ContinuedConversation> {
  const missing = [];
  for (const file of files) {
    if (!existsSync(file.path)) missing.push(file);
    else if (!file.isSide && !(await hasSameBytes(file))) throw new TargetExistsError(file.path, STAYS);
  }
  const paths = missing.map(({ path }) => path);
  const [first] = paths;
  if (!isDryRun && first !== undefined) {
    await using staging = await StagingFolder.createNextTo(findFolderThere(first), false);
    for (const file of missing)
      for await (const piece of file.pieces()) await staging.write(file.path, piece);
    await staging.commit();
    if (list) addToList(list);
  }
  return { session, ...facts, files: paths };
}

/** Imports files that were given back: they are newer than at their import, so the store would seem to lack them. */
async function importAgain(
  kernel: Kernel,
  written: readonly ContinuedConversation[],
  { home, platform, env, signal }: CliContext,
): Promise<void> {
  const files = new Set(written.flatMap(({ isOriginal, files }) => (isOriginal ? files : [])));
  if (files.size === 0) return;
  const sources = await findLocalSources({ home, platform, env }, signal);
  const own = sources.filter(({ source }) => source.paths.some((path) => files.has(path)));
  const paths = own.map(({ source }) => source.path);
  await importSources(kernel, paths, {
    withOriginals: true,
    withForgotten: true,
    system: { home, platform, env },
    signal,
  });
}

async function hasSameBytes({ path, pieces }: Continuation["files"][number]): Promise<boolean> {
  const chunks: Buffer[] = [];
  for await (const piece of pieces()) chunks.push(Buffer.from(piece));
  const bytes = Buffer.concat(chunks);
  const there = await readOutsideFile(path, { maxBytes: bytes.length, allowsLink: true }).catch(
    () => undefined,
  );
  return there !== undefined && bytes.equals(there);
}

/** A longer list of conversations is not one. */
const MAX_LIST_BYTES = 64 * 1_024 * 1_024;

/** Adds a conversation to its agent's list, whose other items stay. */
function addToList({ path, item }: NonNullable<Continuation["list"]>): void {
  const text = existsSync(path)
    ? readOutsideFileSync(path, { maxBytes: MAX_LIST_BYTES, allowsLink: true })
    : "[]";
  const items: unknown = JSON.parse(text.toString());
  if (!Array.isArray(items) || items.some((one) => one?.id === item.id)) return;
  mkdirSync(dirname(path), { recursive: true });
  writeAtomically(path, JSON.stringify([...items, item]), 0o600);
}

/** The nearest folder above a path that exists. */
function findFolderThere(path: string): string {
  const folder = dirname(path);
  return existsSync(folder) ? folder : findFolderThere(folder);
}

function describeWritten(
  { files, command, isOriginal, notes }: ContinuedConversation,
  isDryRun: boolean,
): string {
  const what = isOriginal ? ", byte for byte as imported" : "";
  const lines =
    files.length === 0
      ? ["Its agent still has it; nothing was written."]
      : [
          `${isDryRun ? "Would write" : "Wrote"} ${formatQuantity(files.length, "file")}${what}:`,
          ...files.map((path) => `  ${path}`),
        ];
  return [...lines, ...notes, "", "Continue with:", `  ${command}`]
    .map((line) => `${escapeLine(line)}\n`)
    .join("");
}
