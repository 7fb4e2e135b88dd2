import { text } from "node:stream/consumers";
import { answerFromStore, HOOK_CLIENTS, HOOK_EVENTS, renderStatusLine } from "../../adapters/hooks/index.ts";
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
  about: `Agents start this command themselves; "longhaul connect --hooks" writes it into their settings. It reads the hook's JSON from standard input and answers in the agent's own form, or prints nothing. It asks a running "longhaul serve" or "longhaul serve --hooks-only" over a local socket. Without one it reads the store itself, and starts such a server in the background, which ends after 30 minutes without a hook. It takes at most 300 ms and never fails the agent; the store's hooks/hooks.log says why an answer is missing. Events: ${HOOK_EVENTS.join(", ")}.`,
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
    await answerFromStore({ event, client, store }, await text(context.stdin), async (reply) => {
      if (reply !== "") await printTo(context.stdout, reply);
      return true;
    });
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
    await printTo(context.stdout, `${renderStatusLine(JSON.parse((await text(context.stdin)) || "{}"))}\n`);
    return EXIT.fine;
  },
});
