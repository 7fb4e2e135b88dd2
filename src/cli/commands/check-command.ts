import { resolve } from "node:path";
import type { StoreCheck, StoreDamage } from "../../kernel/faces/log.ts";
import { openKernel, type RepairReport, repairStore } from "../../kernel/index.ts";
import { defineCommand } from "../cli-command.ts";
import { EXIT } from "../exit-code.ts";
import { requireStore, requireStoreOptions } from "../open-store.ts";
import { escapeLine } from "../terminal/escape.ts";
import { formatCount, formatQuantity } from "../terminal/format-count.ts";
import { printDone, printJson } from "../terminal/print-lines.ts";
import { printTo } from "../terminal/printer.ts";
import { UsageError } from "../usage-error.ts";

/** Reads a whole store and reports damage. */
export const checkCommand = defineCommand({
  name: "check",
  summary: "read every entry and blob of the store and report damage",
  usage: ["check [options]", "check --erased FILE"],
  about:
    'Changes nothing. Exits with code 3 if it finds damage; "longhaul repair" then copies all readable data into a new store.',
  options: {
    erased: {
      type: "string",
      value: "FILE",
      help: "compare the certificate of an erasure with the store, and read the files of its server",
    },
  },
  maxOperands: 0,
  examples: [
    "longhaul check",
    "longhaul check --json --store /backup/longhaul",
    "longhaul check --erased erasure-alice.json",
  ],
  async run(context, { options }) {
    if (options.erased !== undefined) {
      const { verifyForgotten } = await import("../team/forget-person.ts");
      return verifyForgotten(context, options.erased, options);
    }
    await using kernel = await openKernel({ ...requireStoreOptions(context, options), readOnly: true });
    const found = await kernel.check({ signal: context.signal });
    if (options.json) await printJson(context, found);
    else await printTo(context.stdout, renderReport(found, options.quiet === true).join("\n"));
    return found.damages === 0 ? EXIT.fine : EXIT.incomplete;
  },
});

function renderReport(found: StoreCheck, isQuiet: boolean): readonly string[] {
  const { sessions, entries, blobs, withoutChecksum, damages, listed } = found;
  const lines = listed.map((damage) => escapeLine(formatDamage(damage)));
  if (damages > listed.length) lines.push(`… and ${formatCount(damages - listed.length)} more`);
  if (!isQuiet) {
    const read = `${formatQuantity(sessions, "session")}, ${formatQuantity(entries, "entry", "entries")}, ${formatQuantity(blobs, "blob")}`;
    lines.push(
      `${read} read; ${damages === 0 ? "no damage found" : `${formatQuantity(damages, "problem")} found`}.`,
    );
    if (withoutChecksum > 0)
      lines.push(
        `${formatQuantity(withoutChecksum, "entry has", "entries have")} no checksum yet: damage there may go unnoticed.`,
      );
    if (damages > 0)
      lines.push('To copy all readable data into a new store, run "longhaul repair --out PATH".');
  }
  return lines.length === 0 ? [] : [...lines, ""];
}

function formatDamage({ kind, entry, digest, problem }: StoreDamage): string {
  if (kind === "structure") return `database: ${problem}`;
  if (kind === "blob") return `${entry} refers to blob ${digest?.slice(0, 12)}: ${problem}`;
  return `${entry}: ${problem}`;
}

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
    await printDone(
      context,
      options,
      () => ({ out: to, ...repaired }),
      () => [renderRepair(to, repaired).join("\n")],
    );
    return isWhole ? EXIT.fine : EXIT.incomplete;
  },
});

function isComplete({ damagedEntries, damagedBlobs, incompleteTables }: RepairReport): boolean {
  return damagedEntries.length + damagedBlobs.length + incompleteTables.length === 0;
}

function renderRepair(to: string, repaired: RepairReport): readonly string[] {
  const { sessions, entries, blobs, damagedEntries, damagedBlobs, incompleteTables } = repaired;
  const lines = damagedEntries.map((entry) => `${escapeLine(entry)} could not be read.`);
  for (const digest of damagedBlobs) lines.push(`Blob ${digest.slice(0, 12)} could not be read.`);
  for (const table of incompleteTables) lines.push(`Some rows of the table ${table} could not be read.`);
  const saved = `${formatQuantity(sessions, "session")}, ${formatQuantity(entries, "entry", "entries")}, ${formatQuantity(blobs, "blob")}`;
  return [...lines, `Wrote ${saved} to ${escapeLine(to)}.`];
}
