import { setTimeout as sleep } from "node:timers/promises";
import { choosePaint } from "../choose-paint.ts";
import { type CommonValues, defineCommand } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { findGatewayAddress } from "../connecting/gateway-address.ts";
import { toSafeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { openExistingStore } from "../open-store.ts";
import { parseCountOption } from "../parse-arguments.ts";
import { printLines } from "../print-lines.ts";
import { printTo } from "../printer.ts";
import { readGateway } from "../top/gateway-view.ts";
import { LiveScreen } from "../top/live-screen.ts";
import { renderTop } from "../top/render-top.ts";
import { TopReader } from "../top/top-state.ts";

const LIMIT = { otherwise: 30, max: 200 };
const EVERY_SECONDS = { otherwise: 2, max: 3_600 };

/** Shows conversations, tasks and memory, and keeps them up to date. */
export const topCommand = defineCommand({
  name: "top",
  summary: "watch conversations, windows, cache hits, cost, tasks and memory",
  usage: ["top [--once] [--every SECONDS] [--limit N] [--url URL]"],
  about:
    "Shows the most recently used conversations, those of a running gateway with their present windows; q or Ctrl-C ends it. The window is that of the last request. Cache is the share of all input tokens that the provider's cache served. Memory is that of the gateway. A gateway with tokens is read with LONGHAUL_TOKEN. Without a terminal it prints once; with --json one line for each look.",
  options: {
    once: { type: "boolean", help: "print the state once and end" },
    every: {
      type: "string",
      value: "SECONDS",
      help: `time between two looks (default: ${EVERY_SECONDS.otherwise})`,
    },
    limit: {
      type: "string",
      value: "N",
      help: `maximum conversations and tasks (default: ${LIMIT.otherwise})`,
    },
    url: {
      type: "string",
      value: "URL",
      help: "address of the gateway (default: that of its configuration)",
    },
  },
  maxOperands: 0,
  examples: ["longhaul top", "longhaul top --once", "longhaul top --json --every 10 | jq .totals.cost"],
  async run(context, { options }) {
    const limit = parseCountOption("limit", options.limit, LIMIT);
    const everyMs = 1_000 * parseCountOption("every", options.every, EVERY_SECONDS);
    const url = await findUrl(context, options);
    await using kernel = await openExistingStore(context, options);
    const reader = new TopReader(kernel);
    const look = async () =>
      reader.read(url === undefined ? undefined : await readGateway(url, context), limit);
    const isOnce = options.once === true || (!context.isTerminal.stdout && !options.json);
    const paint = choosePaint(context, options);
    if (isOnce) {
      const state = await look();
      if (options.json) await printTo(context.stdout, `${toSafeJson(state)}\n`);
      else {
        const width = context.columns.stdout;
        await printLines(context, renderTop(state, { width, rows: Number.POSITIVE_INFINITY, paint }));
      }
      return EXIT.fine;
    }
    if (options.json) {
      await repeat(everyMs, context.signal, async () =>
        printTo(context.stdout, `${toSafeJson(await look())}\n`, context.signal),
      );
      return EXIT.fine;
    }
    const screen = new LiveScreen(context);
    try {
      await repeat(everyMs, screen.signal, async () => {
        const state = await look();
        screen.draw(renderTop(state, { ...screen.size, paint }));
      });
    } finally {
      screen.close();
    }
    return EXIT.fine;
  },
});

/** The address of the gateway; undefined if the configuration does not tell it. */
async function findUrl(
  context: CliContext,
  options: CommonValues & { readonly url?: string },
): Promise<string | undefined> {
  if (options.url !== undefined) return (await findGatewayAddress(context, options)).url;
  return findGatewayAddress(context, options).then(
    ({ url }) => url,
    () => undefined,
  );
}

async function repeat(everyMs: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await work();
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
  }
}
