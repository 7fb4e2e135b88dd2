import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { endHookGuest } from "../../adapters/hooks/index.ts";
import { type BackupManifest, backupStore, restoreStore, verifyBackup } from "../../kernel/faces/log.ts";
import { isLonghaulError } from "../../kernel/index.ts";
import { hidePassword } from "../../model/base/postgres-url.ts";
import { defineCommand } from "../cli-command.ts";
import { EXIT } from "../exit-code.ts";
import { getStorePath, getStoreUrl, requireStore } from "../open-store.ts";
import { escapeLine } from "../terminal/escape.ts";
import { formatBytes } from "../terminal/format-bytes.ts";
import { formatQuantity } from "../terminal/format-count.ts";
import { formatTime } from "../terminal/format-time.ts";
import { printDone, printJson, printLines } from "../terminal/print-lines.ts";
import { quoteShellWord } from "../terminal/quote-shell-word.ts";
import { UsageError } from "../usage-error.ts";

/** Copies the store while it is in use, or checks an earlier copy. */
export const backupCommand = defineCommand({
  name: "backup",
  summary: "copy the store to a folder while it is in use, with a digest of every file",
  usage: ["backup <folder> [options]", "backup --verify <folder>"],
  about:
    "Agents and the gateway go on writing meanwhile; the backup holds every entry that was stored before it began. The folder must be new or empty, and appears when it is complete. It holds the log, the blobs, the index and your settings; tokens, trusted files and the files of connected agents stay on this computer. Exits with code 3 if the store has lost blobs.",
  options: {
    verify: { type: "boolean", help: "read an existing backup and check every digest; change nothing" },
  },
  maxOperands: 1,
  examples: [
    "longhaul backup ~/backups/longhaul-monday",
    "longhaul backup --verify ~/backups/longhaul-monday",
  ],
  async run(context, { operands, options }) {
    const [folder] = operands;
    if (folder === undefined) throw new UsageError("name a folder for the backup");
    const path = resolve(context.cwd, folder);
    const { signal } = context;
    const url = options.verify ? undefined : getStoreUrl(context, options);
    if (url !== undefined)
      throw new UsageError(
        `a database is backed up by its own programs: ${buildDumpCommand(url, `${path}.dump`)}; "longhaul migrate --to FOLDER" copies it into a folder, which this command accepts`,
      );
    const manifest = options.verify
      ? await verifyBackup(path, { signal })
      : await backupStore(requireStore(context, options), path, { signal });
    await printDone(
      context,
      options,
      () => ({ path, ...manifest }),
      () => renderBackup(manifest, path, options.verify === true).map(escapeLine),
    );
    return manifest.damagedBlobs.length === 0 ? EXIT.fine : EXIT.incomplete;
  },
});

function renderBackup(manifest: BackupManifest, path: string, isVerified: boolean): readonly string[] {
  const { sessions, entries, blobs, blobBytes, files, damagedBlobs, createdAt } = manifest;
  const sizeBytes = files.reduce((sum, file) => sum + file.sizeBytes, blobBytes);
  const content = `${formatQuantity(sessions, "session")}, ${formatQuantity(entries, "entry", "entries")}, ${formatQuantity(blobs, "blob")}, ${formatBytes(sizeBytes)}`;
  return [
    ...damagedBlobs.map((digest) => `Blob ${digest.slice(0, 12)} is missing or damaged in the store.`),
    isVerified
      ? `${path} is complete: ${content}, as of ${formatTime(createdAt)}.`
      : `Wrote ${content} to ${path}. "longhaul restore" brings it back.`,
  ];
}

/** The command of PostgreSQL that backs a store up; it asks for the password, or takes it from PGPASSWORD. */
function buildDumpCommand(url: string, file: string): string {
  const [address = "", query] = url.split("?", 2);
  const schema = new URLSearchParams(query).get("schema") ?? "longhaul";
  const words = [
    "--format=custom",
    `--schema=${schema}`,
    `--file=${file}`,
    hidePassword(address).replace(":***@", "@"),
  ];
  return `pg_dump ${words.map(quoteShellWord).join(" ")}`;
}

/** Copies a verified backup into a store. */
export const restoreCommand = defineCommand({
  name: "restore",
  summary: "check a backup and copy it into a new store",
  usage: ["restore <backup> [--store PATH] [--replace]"],
  about:
    "Every digest of the backup is checked; a damaged backup is refused and nothing changes. The store must not exist yet. With --replace an existing store is moved aside, never deleted, and its trusted files and connected agents stay in effect; first stop all programs that use it.",
  options: {
    replace: { type: "boolean", help: "move an existing store aside" },
  },
  maxOperands: 1,
  examples: [
    "longhaul restore ~/backups/longhaul-monday",
    "longhaul restore ~/backups/longhaul-monday --store ~/restored",
  ],
  async run(context, { operands, options }) {
    const [backup] = operands;
    if (backup === undefined) throw new UsageError("name the folder of a backup");
    const store = getStorePath(context, options);
    const { signal } = context;
    const replace = options.replace === true;
    const restore = () => restoreStore(resolve(context.cwd, backup), store, { replace, signal });
    const { manifest, movedTo } = await restore().catch(async (error: unknown) => {
      if (!isLonghaulError(error, "STORE_BUSY") || !(await endHookGuest(store, context.env))) throw error;
      // The process that a hook started needs a moment to close the store.
      await sleep(1_000);
      return restore();
    });
    if (options.json) await printJson(context, { store, movedTo: movedTo ?? null, ...manifest });
    else if (!options.quiet) {
      const { sessions, entries } = manifest;
      const lines = [
        `Restored ${formatQuantity(sessions, "session")} with ${formatQuantity(entries, "entry", "entries")} to ${store}.`,
        ...(movedTo === undefined ? [] : [`The former store is now ${movedTo}.`]),
      ];
      await printLines(context, lines.map(escapeLine));
    }
    return EXIT.fine;
  },
});
