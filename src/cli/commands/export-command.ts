import { extname, join, resolve, sep } from "node:path";
import {
  exportSession,
  type OnDamage,
  type OutputPiece,
  recordCopies,
  WRITERS,
  type Writer,
} from "../../histories/index.ts";
import { isLonghaulError, type Kernel, type SessionId } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { joinInside } from "../../model/base/join-inside.ts";
import { findSessionOwner } from "../../model/session-key.ts";
import { defineCommand, type ParsedArguments } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { EXIT } from "../exit-code.ts";
import { findPathKind, StagingFolder, TargetExistsError } from "../exporting/staging-folder.ts";
import { findNamed } from "../find-named.ts";
import { findSession } from "../find-session.ts";
import { openExistingStore } from "../open-store.ts";
import { findSessionScope, PERSON_OPTION } from "../sessions/session-scope.ts";
import { getActor } from "../team/person-options.ts";
import { escapeLine, escapeText } from "../terminal/escape.ts";
import { formatBytes } from "../terminal/format-bytes.ts";
import { formatQuantity } from "../terminal/format-count.ts";
import { createPagedPrinter } from "../terminal/paged-printer.ts";
import { printJson } from "../terminal/print-lines.ts";
import { UsageError } from "../usage-error.ts";

const WRITER_NAMES = WRITERS.map(({ name }) => name).join(", ");

const OPTIONS = {
  to: { type: "string", value: "WRITER", help: `output format: ${WRITER_NAMES}` },
  out: {
    type: "string",
    short: "o",
    value: "PATH",
    help: "file or folder to write (default: -, standard output)",
  },
  children: { type: "boolean", help: "also export sub-agents, one file each, to the folder --out" },
  force: { type: "boolean", help: "overwrite existing files" },
  ...PERSON_OPTION,
} as const;

/** Writes a session in another tool's format. */
export const exportCommand = defineCommand({
  name: "export",
  summary: "export a conversation to the format of another tool",
  usage: ["export <session> --to <writer> [options]"],
  about: "Formats that consist of several files need --out; they store sub-agents as their tool does.",
  options: OPTIONS,
  maxOperands: 1,
  examples: [
    "longhaul export ticket-4711 --to markdown | less",
    "longhaul export ticket-4711 --to anthropic --out messages.json",
    "longhaul export ticket-4711 --to markdown --children --out report",
  ],
  async run(context, { operands: [wanted], options }) {
    if (wanted === undefined) throw new UsageError('name a session; "longhaul sessions" lists them');
    if (options.to === undefined) throw new UsageError(`--to is missing; expected one of ${WRITER_NAMES}`);
    const writer = findNamed("to", options.to, WRITERS);
    const out = options.out === "-" ? undefined : options.out;
    if (out === undefined) checkOneFile(options, writer);
    await using kernel = await openExistingStore(context, options);
    const session = await findSession(kernel, wanted, await findSessionScope(kernel, context, options));
    const owner = findSessionOwner(session);
    if (owner !== "local" && (await kernel.team.isInUse()))
      await kernel.team.record({
        actor: getActor(),
        act: "session.export",
        target: session,
        details: { format: writer.name },
      });
    let exitCode: number = EXIT.fine;
    const onDamage = (damage: string) => {
      exitCode = EXIT.incomplete;
      context.stderr.write(`longhaul: ${escapeLine(damage)}\n`);
    };
    if (out === undefined) {
      await printExport(context, exportSession(kernel, session, writer, onDamage));
      return exitCode;
    }
    const target = {
      out: resolve(context.cwd, out),
      writer,
      withChildren: options.children === true && !writer.isFolder,
      isForced: options.force === true,
    };
    const written = await writeFiles(kernel, session, target, { signal: context.signal, onDamage });
    await recordCopies(kernel, session, written.files, { by: getActor() }).catch((error: unknown) => {
      // A store on a read-only disk can be exported, but not written.
      if (!isLonghaulError(error, "STORE_READ_ONLY")) throw error;
    });
    if (options.json) await printJson(context, { session, writer: writer.name, ...written });
    else if (!options.quiet) context.stderr.write(formatWritten(target.out, written));
    return exitCode;
  },
});

/** Refuses exports that cannot go to stdout. */
function checkOneFile({ children, json }: ParsedArguments<typeof OPTIONS>["options"], writer: Writer): void {
  if (writer.isFolder)
    throw new UsageError(`${writer.name} writes a folder of files; name the folder with --out`);
  if (children) throw new UsageError("--children writes several files; name a folder with --out");
  if (json) throw new UsageError("--json reports the written files and needs --out");
}

/** Prints the export unchanged; on a terminal, control characters are escaped. */
async function printExport(context: CliContext, pieces: AsyncIterable<OutputPiece>): Promise<void> {
  const printer = createPagedPrinter(context);
  try {
    for await (const { text } of pieces) {
      context.signal.throwIfAborted();
      await printer.print(context.isTerminal.stdout ? escapeText(text) : text);
    }
  } finally {
    await printer.close();
  }
}

function formatWritten(out: string, { files: [first, ...others], sizeBytes }: WrittenFiles): string {
  const what =
    others.length > 0 ? `${formatQuantity(others.length + 1, "file")} in ${out}` : (first ?? "nothing");
  return `wrote ${escapeLine(what)}, ${formatBytes(sizeBytes)}\n`;
}

/** Files that an export wrote. */
interface WrittenFiles {
  readonly files: readonly string[];
  readonly sizeBytes: number;
}

/** Exports a session, and its sub-agents if requested, into files: all of them or none. */
async function writeFiles(
  kernel: Kernel,
  id: SessionId,
  wanted: ExportTarget,
  { signal, onDamage }: { readonly signal: AbortSignal; readonly onDamage: OnDamage },
): Promise<WrittenFiles> {
  const placing = await createPathMapper(wanted);
  await using staging = await StagingFolder.createNextTo(wanted.out, wanted.isForced);
  const stage = async (session: SessionId) => {
    const place = placing(session);
    let target = { file: "", path: "" };
    for await (const { file, text } of exportSession(kernel, session, wanted.writer, onDamage)) {
      signal.throwIfAborted();
      if (file !== target.file || target.path === "") target = { file, path: await place(file) };
      await staging.write(target.path, text);
    }
  };
  await stage(id);
  if (wanted.withChildren) for await (const child of listDescendants(kernel, id)) await stage(child);
  await staging.commit();
  return { files: staging.files, sizeBytes: staging.sizeBytes };
}

const PAGE_SESSIONS = 100;

/** Yields all sub-agents below a session, each after its parent. Forks are separate conversations and left out. */
async function* listDescendants(kernel: Kernel, id: SessionId): AsyncGenerator<SessionId> {
  await using session = await kernel.session(id);
  for (let before: SessionId | undefined; ; ) {
    const page = await session.children({ limit: PAGE_SESSIONS, ...dropUndefined({ before }) });
    for (const child of page) {
      if (child.relation !== "child") continue;
      yield child.id;
      yield* listDescendants(kernel, child.id);
    }
    if (page.length < PAGE_SESSIONS) return;
    before = page.at(-1)?.id;
  }
}

/** Maps a file name from a writer to its path on disk. */
type PathMapper = (file: string) => Promise<string>;

/** Export request. */
interface ExportTarget {
  readonly out: string;
  readonly writer: Writer;
  /** Also export sub-agents, each into its own file; folder writers include them anyway. */
  readonly withChildren: boolean;
  readonly isForced: boolean;
}

/** Returns the placing of each session's files. Refuses impossible targets before anything is read. */
async function createPathMapper(wanted: ExportTarget): Promise<(session: SessionId) => PathMapper> {
  const { out, writer, withChildren, isForced } = wanted;
  const there = await findPathKind(out);
  if (there === "file" && (writer.isFolder || withChildren)) {
    throw new UsageError(`--out is the file ${out}; expected a folder`);
  }
  if (writer.isFolder) return () => (file) => joinInside(out, file.split(sep).join("/"));
  if (withChildren) return (session) => async (file) => join(out, `${toFileName(session)}${extname(file)}`);
  if (there === "folder") return () => (file) => joinInside(out, file.split(sep).join("/"));
  if (there === "file" && !isForced) throw new TargetExistsError(out);
  return () => async () => out;
}

function toFileName(session: SessionId): string {
  return session.replace(/[^\w.-]+/g, "_").replace(/^\.+/, "_");
}
