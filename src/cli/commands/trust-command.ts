import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { type CommonValues, defineCommand } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { EXIT } from "../exit-code.ts";
import { getStorePath } from "../open-store.ts";
import { choosePaint } from "../terminal/choose-paint.ts";
import { escapeLine } from "../terminal/escape.ts";
import { formatAgo } from "../terminal/format-time.ts";
import { printDone, printJson, printLines } from "../terminal/print-lines.ts";
import { type Column, renderTable } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";

const COLUMNS: readonly Column[] = [
  { title: "file", look: "cyan", shrinks: "first" },
  { title: "trusted" },
  { title: "state" },
];

/** Manages trust in a project's configuration file. */
export const trustCommand = defineCommand({
  name: "trust",
  summary: "trust a project's longhaul.json until its content changes",
  usage: ["trust [file or folder]", "trust --list", "trust --remove [file or folder]"],
  about:
    "The gateway ignores a configuration file in a working folder until you trust its content, and again after any change to the file. Even then the file can only set policy, threshold and dryRun; upstreams, keys, tokens, origins, hosts and redaction come only from your own configuration. The gateway reads a project's file when it starts.",
  options: {
    list: { type: "boolean", help: "list the trusted files" },
    remove: { type: "boolean", help: "withdraw trust" },
  },
  maxOperands: 1,
  examples: [
    "longhaul trust",
    "longhaul trust ~/project",
    "longhaul trust --list",
    "longhaul trust --remove",
  ],
  async run(context, { operands, options }) {
    if (options.list && (options.remove || operands.length > 0))
      throw new UsageError("--list cannot be combined with other arguments");
    const named = resolve(context.cwd, operands[0] ?? ".");
    if (options.list) return listFiles(context, options);
    return options.remove ? removeFile(context, options, named) : trustFile(context, options, named);
  },
});

async function trustFile(context: CliContext, options: CommonValues, named: string): Promise<number> {
  const path = findConfig(named);
  if (path === undefined) throw new UsageError(`there is no longhaul.json at ${named}`);
  const { readTrustableFile, trustContent } = await import("../../server/gateway/config/index.ts");
  const { content, settings, ignored } = readTrustableFile(path);
  const trusted = trustContent(await findUserFolder(context, options), path, content, Date.now());
  await printDone(
    context,
    options,
    () => ({ trusted, settings, ignored }),
    () => [
      `Trusted ${escapeLine(trusted.path)} until its content changes:`,
      ...Object.entries(settings).map(
        ([key, value]) => `  ${escapeLine(`${key}: ${JSON.stringify(value)}`)}`,
      ),
      ...(ignored.length > 0
        ? [`Ignored, because a project may not set it: ${escapeLine(ignored.join(", "))}`]
        : []),
      "Restart a running gateway to apply these settings.",
    ],
  );
  return EXIT.fine;
}

async function removeFile(context: CliContext, options: CommonValues, named: string): Promise<number> {
  const { removeTrust } = await import("../../server/gateway/config/index.ts");
  const folder = await findUserFolder(context, options);
  const candidates = [
    named,
    findConfig(named),
    join(named, "longhaul.json"),
    join(named, "longhaul.gateway.json"),
  ];
  let removed: ReturnType<typeof removeTrust>;
  for (const path of candidates) if (path !== undefined) removed ??= removeTrust(folder, path);
  if (!removed)
    throw new UsageError(`no file at ${named} is trusted; "longhaul trust --list" lists the trusted files`);
  await printDone(
    context,
    options,
    () => ({ removed }),
    () => [`No longer trusted: ${escapeLine(removed.path)}`],
  );
  return EXIT.fine;
}

async function listFiles(context: CliContext, options: CommonValues): Promise<number> {
  const { listTrusted, getTrustState } = await import("../../server/gateway/config/index.ts");
  const trusted = listTrusted(await findUserFolder(context, options)).map((one) => ({
    ...one,
    state: getTrustState(one),
  }));
  if (options.json) {
    await printJson(context, { trusted });
    return EXIT.fine;
  }
  const now = Date.now();
  const rows = trusted.map(({ path, at, state }) => [path, formatAgo(at, now), state]);
  const width = context.columns.stdout;
  const lines =
    rows.length > 0
      ? renderTable(COLUMNS, rows, { width, paint: choosePaint(context, options) })
      : ["No project file is trusted."];
  await printLines(context, lines);
  return EXIT.fine;
}

async function findUserFolder(context: CliContext, options: CommonValues): Promise<string> {
  const { findUserFolder: userFolder } = await import("../../server/gateway/config/index.ts");
  const store = getStorePath(context, options);
  return userFolder({ cwd: context.cwd, home: context.home, store }) ?? store;
}

/** Finds the configuration file at a path or in a folder. */
function findConfig(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  if (!statSync(path).isDirectory()) return path;
  return [join(path, "longhaul.json"), join(path, "longhaul.gateway.json")].find((file) => existsSync(file));
}
