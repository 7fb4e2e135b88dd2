import { resolve } from "node:path";
import { exportSession, type OutputPiece, WRITERS, type Writer } from "../../formats/index.ts";
import { findSessionOwner } from "../../model/session-owner.ts";
import { defineCommand, type ParsedArguments } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { escapeLine, escapeText, toSafeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { type WrittenFiles, writeFiles } from "../exporting/write-files.ts";
import { findNamed } from "../find-named.ts";
import { findSession } from "../find-session.ts";
import { formatBytes } from "../format-bytes.ts";
import { formatQuantity } from "../format-count.ts";
import { openExistingStore } from "../open-store.ts";
import { createPagedPrinter } from "../paged-printer.ts";
import { printTo } from "../printer.ts";
import { findSessionScope, PERSON_OPTION } from "../sessions/session-scope.ts";
import { getActor } from "../team/person-options.ts";
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
    if (options.json)
      await printTo(context.stdout, `${toSafeJson({ session, writer: writer.name, ...written })}\n`);
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
