import { resolve } from "node:path";
import { type RepairReport, repairStore } from "../../index.ts";
import { defineCommand } from "../cli-command.ts";
import { escapeLine, toSafeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { formatQuantity } from "../format-count.ts";
import { requireStore } from "../open-store.ts";
import { printTo } from "../printer.ts";
import { UsageError } from "../usage-error.ts";

/** Copies everything readable of a damaged store into a new one. */
export const repairCommand = defineCommand({
  name: "repair",
  summary: "copy all readable data of a damaged store into a new store",
  usage: ["repair --out <folder> [options]"],
  about:
    "The damaged store is only read. Sessions keep their ids and entries their numbers; an unreadable entry keeps its place, marked as damaged. First stop all programs that write to the store.",
  options: {
    out: { type: "string", short: "o", value: "PATH", help: "folder of the new store; must be empty" },
  },
  maxOperands: 0,
  examples: ["longhaul repair --out ~/.longhaul-repaired"],
  async run(context, { options }) {
    if (options.out === undefined) throw new UsageError("--out is missing; name a folder for the new store");
    const to = resolve(context.cwd, options.out);
    const repaired = await repairStore(requireStore(context, options), to);
    const isWhole = isComplete(repaired);
    if (options.json) await printTo(context.stdout, `${toSafeJson({ out: to, ...repaired })}\n`);
    else if (!options.quiet) await printTo(context.stdout, `${renderReport(to, repaired).join("\n")}\n`);
    return isWhole ? EXIT.fine : EXIT.incomplete;
  },
});

function isComplete({ damagedEntries, damagedBlobs, incompleteTables }: RepairReport): boolean {
  return damagedEntries.length + damagedBlobs.length + incompleteTables.length === 0;
}

function renderReport(to: string, repaired: RepairReport): readonly string[] {
  const { sessions, entries, blobs, damagedEntries, damagedBlobs, incompleteTables } = repaired;
  const lines = damagedEntries.map((entry) => `${escapeLine(entry)} could not be read.`);
  for (const digest of damagedBlobs) lines.push(`Blob ${digest.slice(0, 12)} could not be read.`);
  for (const table of incompleteTables) lines.push(`Some rows of the table ${table} could not be read.`);
  const saved = `${formatQuantity(sessions, "session")}, ${formatQuantity(entries, "entry", "entries")}, ${formatQuantity(blobs, "blob")}`;
  return [...lines, `Wrote ${saved} to ${escapeLine(to)}.`];
}
