import { existsSync } from "node:fs";
import { text } from "node:stream/consumers";
import {
  buildStatusLine,
  createHookEndpoint,
  HOOK_CLIENTS,
  HOOK_EVENTS,
  startImport,
} from "../../adapters/hooks/index.ts";
import { openKernel } from "../../kernel/index.ts";
import { defineCommand } from "../cli-command.ts";
import { EXIT } from "../exit-code.ts";
import { getStorePath } from "../open-store.ts";
import { printTo } from "../terminal/printer.ts";
import { UsageError } from "../usage-error.ts";

const CLIENT = {
  type: "string",
  value: "AGENT",
  help: `the agent that calls (default: claude-code): ${HOOK_CLIENTS.join(", ")}`,
} as const;

/** Answers a hook of an agent. */
export const hookCommand = defineCommand({
  name: "hook",
  summary: "answer a hook of an agent: recall at the moment of action",
  usage: ["hook <event> [--client AGENT]"],
  about: `Agents start this command themselves; "longhaul connect --hooks" writes it into their settings. It reads the hook's JSON from standard input and answers in the agent's own form, or prints nothing. It asks a running "longhaul serve" or "longhaul serve --hooks-only" over a local socket, otherwise it reads the store. It takes at most 300 ms and never fails the agent; the store's hooks/hooks.log says why an answer is missing. Events: ${HOOK_EVENTS.join(", ")}.`,
  options: { client: CLIENT },
  maxOperands: 1,
  examples: ['echo \'{"session_id":"1","cwd":"/shop","prompt":"which port?"}\' | longhaul hook prompt'],
  async run(context, { operands, options }) {
    const [event] = operands;
    if (event === undefined || !HOOK_EVENTS.some((one) => one === event))
      throw new UsageError(`the event is missing or unknown; expected ${HOOK_EVENTS.join(", ")}`);
    const client = options.client ?? "claude-code";
    if (!HOOK_CLIENTS.some((one) => one === client))
      throw new UsageError(`--client is ${JSON.stringify(client)}; expected ${HOOK_CLIENTS.join(", ")}`);
    const store = getStorePath(context, options);
    const reply = await answerFromStore({ event, client, store }, await text(context.stdin));
    if (reply !== "") await printTo(context.stdout, reply);
    return EXIT.fine;
  },
});

/** Prints the status line of an agent. */
export const statuslineCommand = defineCommand({
  name: "statusline",
  summary: "print a status line for Claude Code: window, cache, savings, last recall",
  usage: ["statusline"],
  about:
    'Claude Code starts this command and passes its JSON on standard input; "longhaul connect --hooks" writes it into its settings unless they have a status line already.',
  options: {},
  maxOperands: 0,
  examples: ["longhaul statusline < status.json"],
  async run(context) {
    await printTo(context.stdout, `${await describeStatus(await text(context.stdin))}\n`);
    return EXIT.fine;
  },
});

/**
 * Answers a hook from the store itself, read-only: no process serves it. Recall compares words only, because loading the
 * embedder would take longer than the agent waits.
 */
export async function answerFromStore(
  { event, client, store }: { readonly event: string; readonly client: string; readonly store: string },
  input: string,
): Promise<string> {
  if (event === "statusline") return describeStatus(input);
  if (!existsSync(`${store}/log.db`)) {
    // The first conversation of a new user is imported too.
    const transcript = event === "session-end" ? findTranscript(input) : undefined;
    if (transcript !== undefined) startImport(transcript, store);
    return "";
  }
  await using kernel = await openKernel({
    path: store,
    readOnly: "with-index",
    embedder: null,
    monitor: false,
  });
  await using hooks = createHookEndpoint({
    kernel,
    store,
    env: process.env,
    onError: (error) => {
      throw error;
    },
    isCold: true,
  });
  return await hooks.answer({ client, event, input });
}

function describeStatus(input: string): Promise<string> {
  return buildStatusLine(undefined, JSON.parse(input || "{}"), { lastRecall: "", now: Date.now() });
}

function findTranscript(input: string): string | undefined {
  const { transcript_path: path } = JSON.parse(input) as { readonly transcript_path?: unknown };
  return typeof path === "string" ? path : undefined;
}
