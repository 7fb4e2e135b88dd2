import { choosePaint } from "../choose-paint.ts";
import { defineCommand } from "../cli-command.ts";
import { renderRows } from "../context/labeled-row.ts";
import { toSafeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { formatBytes } from "../format-bytes.ts";
import { formatQuantity } from "../format-count.ts";
import { getStoreUrl, isStoreThere, nameStore, openExistingStore } from "../open-store.ts";
import { printLines } from "../print-lines.ts";
import { printTo } from "../printer.ts";
import { findGateway } from "../status/find-gateway.ts";
import { measureStore, type StoreStatus } from "../status/store-status.ts";

/** Shows the state of store, index and gateway. */
export const statusCommand = defineCommand({
  name: "status",
  summary: "show the store, its index, and whether the gateway runs",
  usage: ["status [--url URL]"],
  options: {
    url: { type: "string", value: "URL", help: "address of the gateway (default: http://127.0.0.1:4747)" },
  },
  maxOperands: 0,
  examples: ["longhaul status", "longhaul status --json"],
  async run(context, { options }) {
    const path = nameStore(context, options);
    const gateway = await findGateway(options.url, context.env, context.signal);
    let store: StoreStatus | undefined;
    if (isStoreThere(context, options)) {
      await using kernel = await openExistingStore(context, options);
      store = await measureStore(kernel, getStoreUrl(context, options) === undefined ? path : undefined);
    }
    if (options.json) {
      await printTo(context.stdout, `${toSafeJson({ path, store: store ?? null, gateway })}\n`);
      return EXIT.fine;
    }
    const rows: readonly (readonly [string, string])[] = [
      ["store", path],
      ...(store ? describeStore(store) : [["", 'empty; "longhaul import" fills it'] as const]),
      [
        "gateway",
        gateway.isRunning ? `running at ${gateway.url}` : 'not running; "longhaul serve" starts it',
      ],
    ];
    await printLines(context, renderRows(rows, context.columns.stdout, choosePaint(context, options)));
    return EXIT.fine;
  },
});

/** The share that is done, rounded down, so that unfinished work is never 100%. */
function formatDone(missing: number, all: number): string {
  return `${Math.floor((100 * Math.max(0, all - missing)) / Math.max(1, all))}%`;
}

function describeStore({ sizeBytes, sessions, index }: StoreStatus): readonly (readonly [string, string])[] {
  const { chunks, entries, unindexed, unembedded } = index;
  const missing = [
    ...(unindexed > 0
      ? [`${formatDone(unindexed, entries)} done, ${formatQuantity(unindexed, "entry", "entries")} to index`]
      : []),
    ...(unembedded > 0
      ? [`${formatDone(unembedded, chunks)} embedded, ${formatQuantity(unembedded, "chunk")} to embed`]
      : []),
  ];
  const state = missing.length === 0 ? "complete" : `${missing.join(", ")}; "longhaul index" completes it`;
  return [
    ["size", formatBytes(sizeBytes)],
    ["sessions", formatQuantity(sessions, "conversation")],
    ["index", `${formatQuantity(chunks, "chunk")}, ${state}`],
  ];
}
