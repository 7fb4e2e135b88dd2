import { resolve } from "node:path";
import { restoreStore } from "../../log-entry.ts";
import { defineCommand } from "../cli-command.ts";
import { escapeLine, toSafeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { formatQuantity } from "../format-count.ts";
import { getStorePath } from "../open-store.ts";
import { printLines } from "../print-lines.ts";
import { printTo } from "../printer.ts";
import { UsageError } from "../usage-error.ts";

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
    const { manifest, movedTo } = await restoreStore(resolve(context.cwd, backup), store, {
      replace,
      signal,
    });
    if (options.json)
      await printTo(context.stdout, `${toSafeJson({ store, movedTo: movedTo ?? null, ...manifest })}\n`);
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
