import { resolve } from "node:path";
import { type MoveReport, migrateStore } from "../../kernel/faces/log.ts";
import { hidePassword, isPostgresUrl } from "../../model/base/postgres-url.ts";
import { defineCommand } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { EXIT } from "../exit-code.ts";
import { getStorePath, getStoreUrl } from "../open-store.ts";
import { escapeLine } from "../terminal/escape.ts";
import { formatCount, formatQuantity } from "../terminal/format-count.ts";
import { StatusLine } from "../terminal/phase-bar.ts";
import { printDone } from "../terminal/print-lines.ts";
import { UsageError } from "../usage-error.ts";

/** Copies a store into another engine or place. */
export const migrateCommand = defineCommand({
  name: "migrate",
  summary: "copy a store into another engine or place, and compare every entry",
  usage: ["migrate --to <folder or URL> [--from <folder or URL>] [options]"],
  about:
    "Both ways between a folder and a PostgreSQL database (postgres://…). Agents and the gateway may write to the source meanwhile; run it again after they have stopped, and it copies the rest. Interrupted, it resumes on the next run. The target must be new or filled by an earlier run. Sessions keep their ids and entries their numbers; the index is built again. The source is only read. Exits with code 3 if something could not be copied or the source has more.",
  options: {
    from: { type: "string", value: "STORE", help: "folder or postgres://… (default: the store in use)" },
    to: { type: "string", value: "STORE", help: "folder or postgres://…" },
  },
  maxOperands: 0,
  examples: [
    "longhaul migrate --to postgres://longhaul@db.example/longhaul",
    "longhaul migrate --from postgres://longhaul@db.example/longhaul --to ~/longhaul-copy --json",
  ],
  async run(context, { options }) {
    if (options.to === undefined) throw new UsageError("--to is missing; name a folder or a postgres:// URL");
    const from =
      options.from === undefined
        ? (getStoreUrl(context, options) ?? getStorePath(context, options))
        : resolvePlace(context, options.from);
    const to = resolvePlace(context, options.to);
    if (from === to) throw new UsageError("--from and --to name the same store");
    const status = new StatusLine(context, options);
    let report: MoveReport;
    try {
      report = await migrateStore(from, to, {
        signal: context.signal,
        onProgress: ({ phase, sessions, totalSessions, entries }) =>
          status.update(
            () =>
              `${phase}: ${formatCount(sessions)} of ${formatCount(totalSessions)} sessions, ${formatCount(entries)} entries`,
          ),
      });
    } finally {
      status.clear();
    }
    const places = { from: hidePassword(from), to: hidePassword(to) };
    await printDone(
      context,
      options,
      () => ({ ...places, ...report }),
      () => renderMove(places.to, report).map(escapeLine),
    );
    const isWhole = !report.isBehind && report.damagedBlobs.length + report.onlyInTarget.length === 0;
    return isWhole ? EXIT.fine : EXIT.incomplete;
  },
});

function resolvePlace({ cwd }: CliContext, place: string): string {
  return isPostgresUrl(place) ? place : resolve(cwd, place);
}

function renderMove(to: string, report: MoveReport): readonly string[] {
  const { sessions, entries, digest, copiedEntries, copiedBlobs, redacted, damagedBlobs, onlyInTarget } =
    report;
  const lines = damagedBlobs.map((one) => `Blob ${one.slice(0, 12)} is missing or damaged in the source.`);
  if (redacted > 0)
    lines.push(
      `Redacted ${formatQuantity(redacted, "entry", "entries")} that the source has redacted since.`,
    );
  if (onlyInTarget.length > 0)
    lines.push(
      `${formatQuantity(onlyInTarget.length, "session is", "sessions are")} only in the target, first ${onlyInTarget[0]}: deleted in the source since, or made in the target. "longhaul forget" deletes a session.`,
    );
  lines.push(
    `Copied ${formatQuantity(copiedEntries, "entry", "entries")} and ${formatQuantity(copiedBlobs, "blob")}. ${to} now holds ${formatQuantity(sessions, "session")} with ${formatQuantity(entries, "entry", "entries")}, each the same as in the source (digest ${digest.slice(0, 16)}).`,
  );
  if (report.isBehind)
    lines.push("Others wrote to the source meanwhile: stop them, and run this again to copy the rest.");
  return lines;
}
