import { resolve } from "node:path";
import type { Decision } from "../../kernel/faces/memory.ts";
import { defineCommand } from "../cli-command.ts";
import { EXIT } from "../exit-code.ts";
import { openExistingStore } from "../open-store.ts";
import { parseCountOption } from "../parse-arguments.ts";
import { findSessionScope, PERSON_OPTION } from "../sessions/session-scope.ts";
import { choosePaint } from "../terminal/choose-paint.ts";
import { escapeLine } from "../terminal/escape.ts";
import { formatTime } from "../terminal/format-time.ts";
import type { Paint } from "../terminal/paint.ts";
import { printResult } from "../terminal/print-lines.ts";

const LIMIT = { otherwise: 30, max: 1_000 };
const WAIT = { otherwise: 10, max: 3_600 };

/** Lists decisions, newest first. */
export const decisionsCommand = defineCommand({
  name: "decisions",
  summary: "list the decisions of conversations, newest first",
  usage: ["decisions [project] [options]"],
  about:
    "Sentences that choose or reject something, find a cause, or set a rule or a preference, recognized without a model. A decision that overrules an earlier one says so. Name a project by its folder or by the name of that folder; without one, all are listed.",
  options: {
    limit: { type: "string", short: "k", value: "N", help: `maximum number (default: ${LIMIT.otherwise})` },
    wait: {
      type: "string",
      value: "SECONDS",
      help: `maximum time to index new entries first (default: ${WAIT.otherwise})`,
    },
    ...PERSON_OPTION,
  },
  maxOperands: 1,
  examples: ["longhaul decisions", "longhaul decisions .", "longhaul decisions shop -k 100 --json"],
  async run(context, { operands: [project], options }) {
    const limit = parseCountOption("limit", options.limit, LIMIT);
    const waitMs = 1_000 * parseCountOption("wait", options.wait, WAIT);
    await using kernel = await openExistingStore(context, options);
    const { prefixes } = await findSessionScope(kernel, context, options);
    const decisions = await kernel.memory.listDecisions({
      limit,
      waitMs,
      signal: context.signal,
      ...(project !== undefined && { project: /[/\\]|^\.{1,2}$/.test(project) ? resolve(project) : project }),
      ...(prefixes && { scope: { prefixes } }),
    });
    const paint = choosePaint(context, options);
    await printResult(
      context,
      options,
      () => ({ decisions }),
      () =>
        decisions.length === 0
          ? [`No decision was found${project === undefined ? "" : ` for ${escapeLine(project)}`}.`]
          : decisions.flatMap((decision) => renderDecision(decision, paint)),
    );
    return EXIT.fine;
  },
});

function renderDecision({ text, kind, at, entry, replaces, replacedBy }: Decision, paint: Paint): string[] {
  const oneLine = (long: string) => escapeLine(long.replace(/\s+/g, " "));
  return [
    `${formatTime(at).slice(0, 16)}  ${paint("cyan", kind)}  ${oneLine(text)}`,
    paint("dim", `                  ${escapeLine(entry)}`),
    ...(replaces ? [paint("dim", `                  replaces: ${oneLine(replaces.text)}`)] : []),
    ...(replacedBy ? [paint("yellow", `                  replaced by: ${oneLine(replacedBy.text)}`)] : []),
  ];
}
