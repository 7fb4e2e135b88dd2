import { openKernel } from "../../index.ts";
import type { StoreCheck, StoreDamage } from "../../log-entry.ts";
import { defineCommand } from "../cli-command.ts";
import { escapeLine, toSafeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { formatCount, formatQuantity } from "../format-count.ts";
import { requireStoreOptions } from "../open-store.ts";
import { printTo } from "../printer.ts";

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
    if (options.json) await printTo(context.stdout, `${toSafeJson(found)}\n`);
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
