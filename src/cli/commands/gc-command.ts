import type { CollectedGarbage } from "../../kernel/faces/log.ts";
import { defineCommand } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { EXIT } from "../exit-code.ts";
import { openExistingStore } from "../open-store.ts";
import { askYesNo } from "../terminal/ask-yes-no.ts";
import { formatBytes } from "../terminal/format-bytes.ts";
import { formatQuantity } from "../terminal/format-count.ts";
import { printJson, printLines } from "../terminal/print-lines.ts";

/** Content younger than this stays: its writer may be about to refer to it. */
const MIN_AGE_MS = 60 * 60 * 1_000;

/** Removes content of the store that nothing refers to. */
export const gcCommand = defineCommand({
  name: "gc",
  summary: "remove blobs that nothing refers to and files of crashed writers",
  usage: ["gc [--dry-run | --yes] [--vacuum]"],
  about:
    'Shows the findings and asks; without a terminal it only shows them, unless --yes is given. Content that an entry, a draft or a running writer refers to stays, and so does everything younger than an hour. An unfinished message of a dead writer becomes an interrupted message; its text is kept. No conversation is deleted: see "longhaul retention".',
  options: {
    "dry-run": { type: "boolean", help: "show the findings and change nothing" },
    yes: { type: "boolean", short: "y", help: "remove without asking" },
    vacuum: {
      type: "boolean",
      help: "also return the space of deleted content to the file system; may take long",
    },
  },
  maxOperands: 0,
  examples: ["longhaul gc", "longhaul gc --dry-run --json", "longhaul gc --yes --vacuum"],
  async run(context, { options }) {
    await using kernel = await openExistingStore(context, options);
    const planned = await kernel.collectGarbage({ dryRun: true, minAgeMs: MIN_AGE_MS });
    const reclaimableBytes = (await kernel.maintenance.inspect())?.freeBytes ?? 0;
    const isWanted =
      !options["dry-run"] &&
      (hasGarbage(planned) || options.vacuum === true) &&
      (options.yes === true || (await isConfirmed(context, planned, options.json === true)));
    const collected = isWanted ? await kernel.collectGarbage({ minAgeMs: MIN_AGE_MS }) : planned;
    const freedBytes = isWanted && options.vacuum ? (await kernel.vacuum()).freedBytes : 0;
    const { blobs, blobBytes, temporaryFiles, temporaryBytes, drafts } = collected;
    if (options.json) {
      const counts = { blobs, blobBytes, temporaryFiles, temporaryBytes, drafts };
      const vacuum = { reclaimableBytes, vacuumedBytes: freedBytes };
      await printJson(context, { isDryRun: !isWanted, ...counts, ...vacuum });
    } else if (!options.quiet) {
      const lines = [renderGarbage(collected, isWanted)];
      if (freedBytes > 0) lines.push(`Returned ${formatBytes(freedBytes)} to the file system.`);
      else if (reclaimableBytes > 0 && !options.vacuum)
        lines.push(
          `${formatBytes(reclaimableBytes)} of the database are free for new content; --vacuum returns them to the file system.`,
        );
      await printLines(context, lines);
    }
    return EXIT.fine;
  },
});

function hasGarbage({ blobs, temporaryFiles, drafts }: CollectedGarbage): boolean {
  return blobs + temporaryFiles + drafts > 0;
}

async function isConfirmed(
  context: CliContext,
  planned: CollectedGarbage,
  isJson: boolean,
): Promise<boolean> {
  if (isJson || !context.isTerminal.stdin || !context.isTerminal.stdout) return false;
  await printLines(context, [renderGarbage(planned, false)]);
  return askYesNo(context, "Go on?");
}

function renderGarbage(garbage: CollectedGarbage, isDone: boolean): string {
  const { blobs, blobBytes, temporaryFiles, temporaryBytes, drafts } = garbage;
  if (!hasGarbage(garbage)) return "Nothing to remove.";
  const things = [
    ...(blobs > 0 ? [formatQuantity(blobs, "unreferenced blob")] : []),
    ...(temporaryFiles > 0 ? [formatQuantity(temporaryFiles, "temporary file")] : []),
  ];
  const size = formatBytes(blobBytes + temporaryBytes);
  const removed = isDone ? "Removed" : "Would remove";
  const kept = isDone ? "Kept" : "Would keep";
  return [
    ...(things.length > 0 ? [`${removed} ${things.join(" and ")}: ${size}.`] : []),
    ...(drafts > 0 ? [`${kept} ${formatQuantity(drafts, "unfinished message")} as interrupted.`] : []),
  ].join(" ");
}
