import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { loadConversation } from "../../conversation/load-conversation.ts";
import { readRequestUsage } from "../../conversation/spending/request-usage.ts";
import { UsageSums } from "../../conversation/spending/usage-sums.ts";
import { importSources } from "../../formats/index.ts";
import { type Kernel, openKernel, type SessionId } from "../../index.ts";
import {
  addTotals,
  longhaul,
  NO_TOTALS,
  POLICIES,
  type Policy,
  PROTOCOL,
  SHRINK_FILTERS,
  summarizingPolicy,
} from "../../window-entry.ts";
import { choosePaint } from "../choose-paint.ts";
import { defineCommand } from "../cli-command.ts";
import { toSafeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { findNamed } from "../find-named.ts";
import { findSession, listSessionIds } from "../find-session.ts";
import { openExistingStore } from "../open-store.ts";
import { parseCountOption } from "../parse-arguments.ts";
import { printTo } from "../printer.ts";
import { scoreEvidence } from "../replaying/evidence-score.ts";
import { addEvidence, listEvidenceCases } from "../replaying/evidence-totals.ts";
import { parseShrinkOption } from "../replaying/parse-shrink-option.ts";
import { readQuestions } from "../replaying/read-questions.ts";
import { renderReplayTable } from "../replaying/render-replay-table.ts";
import { chooseReplayProtocol } from "../replaying/replay-protocol.ts";
import { ReplayStudy } from "../replaying/replay-study.ts";
import { sampleOf } from "../replaying/sample.ts";
import { countRequests, findLastModelFacts, getTokenPrice } from "../replaying/token-price.ts";
import { getSessionScope } from "../sessions/session-scope.ts";
import { StatusLine } from "../status-line.ts";
import { parseTokensOption } from "../tokens.ts";
import { UsageError } from "../usage-error.ts";

const DEFAULT_WINDOWS = "32k,64k,128k,200k";
/** One window for many conversations, because each one takes as long again. */
const ALL_WINDOWS = "200k";
/** Maximum of the options that count conversations or questions. */
const MAX_COUNT = 1_000_000;
const PRICES = [{ name: "recorded" }, { name: "standard" }] as const;
const KNOWN_POLICIES: readonly Policy[] = [...POLICIES, summarizingPolicy()];

/** Replays recorded conversations under window policies. */
export const replayCommand = defineCommand({
  name: "replay",
  summary: "compare cost and retention of recorded conversations under each policy",
  usage: ["replay <session|path>… [options]", "replay --all [options]", "replay --questions DIR [options]"],
  about:
    "All figures are estimates. Cost is in input tokens, relative to an unlimited window, with the cache prices of the session's model if its provider reported a cache, with none if it reported none, and by the rules of Anthropic's prompt cache (reads 0.1, writes 1.25, five minutes) without reports. The column +refetch adds the cost of fetching lost content again, estimated from recorded behavior of agents. The column texts shows the share of the agent's edits whose old text was still in the window, paths the same for the files that its calls name, and ids and lines for the identifiers and lines of its next message. With --questions, evidence is the share of questions whose answer was in the window verbatim, and unpaged is the same without paging removed content back in. If only --questions is given, the conversations of the questions are replayed.",
  options: {
    all: { type: "boolean", help: "replay all conversations in the store" },
    policy: {
      type: "string",
      multiple: true,
      value: "NAME",
      help: "only these policies, comma-separated",
    },
    window: {
      type: "string",
      value: "SIZES",
      help: `window sizes in tokens (default: ${DEFAULT_WINDOWS}; with --all ${ALL_WINDOWS})`,
    },
    "shrink-off": {
      type: "string",
      multiple: true,
      value: "NAME",
      help: `replay longhaul without these filters of tool results, comma-separated: all, ${SHRINK_FILTERS.join(", ")}`,
    },
    prices: {
      type: "string",
      value: "NAME",
      help: "recorded (default): the cache prices of each session's provider; standard: one set of prices for all sessions, for comparable figures",
    },
    min: { type: "string", value: "N", help: "skip conversations with fewer requests (default: 1)" },
    questions: {
      type: "string",
      value: "DIR",
      help: "ask these questions at the end of their conversations and search the window for the answers",
    },
    sample: { type: "string", value: "N", help: "ask only N of the questions, evenly chosen" },
    dump: {
      type: "string",
      value: "DIR",
      help: "write the window of every request to this folder, as JSON lines",
    },
    picture: {
      type: "string",
      value: "DIR",
      help: "write an SVG of the window size over time to this folder, for each conversation",
    },
  },
  maxOperands: Number.POSITIVE_INFINITY,
  examples: [
    "longhaul replay ticket-4711",
    "longhaul replay --all",
    "longhaul replay old-chats --policy longhaul,cline --window 64k --min 40",
    "longhaul replay ticket-4711 --policy longhaul --shrink-off tests,runs",
    "longhaul replay ticket-4711 --picture pictures --json",
    "longhaul replay --questions longmemeval-s --sample 30",
  ],
  async run(context, { operands, options }) {
    const least = parseCountOption("min", options.min, { otherwise: 1, max: MAX_COUNT });
    const sampled = parseCountOption("sample", options.sample, { otherwise: MAX_COUNT, max: MAX_COUNT });
    const windows = (options.window ?? (options.all ? ALL_WINDOWS : DEFAULT_WINDOWS))
      .split(",")
      .map((word) => parseTokensOption("window", word, 1));
    const asked =
      options.questions === undefined ? [] : readQuestions(resolve(context.cwd, options.questions));
    const questions = sampleOf(asked, sampled);
    if (operands.length === 0 && questions.length === 0 && !options.all)
      throw new UsageError("name a session, a file or folder of conversations, --all, or --questions");
    if (operands.length > 0 && options.all)
      throw new UsageError("--all cannot be combined with a session or a path");
    const names = options.policy?.flatMap((words) => words.split(",").map((word) => word.trim()));
    const prices = findNamed("prices", options.prices ?? "recorded", PRICES).name;
    const shrink = parseShrinkOption(options["shrink-off"] ?? []);
    const chosen =
      names?.map((name) => findNamed("policy", name, KNOWN_POLICIES)) ?? KNOWN_POLICIES.filter(isBounded);
    const policies = chosen.map((policy) => (policy.name === "longhaul" ? longhaul({ shrink }) : policy));
    const study = new ReplayStudy(policies, windows, {
      ...(options.dump !== undefined && { dump: resolve(context.cwd, options.dump) }),
      ...(options.picture !== undefined && { picture: resolve(context.cwd, options.picture) }),
    });
    const status = new StatusLine(context, options);
    let recorded = NO_TOTALS;
    const replayOne = async (kernel: Kernel, id: SessionId, place = "") => {
      context.signal.throwIfAborted();
      const conversation = await loadConversation(kernel, id);
      if (countRequests(conversation) < least) return;
      status.update(() => `${place}${id}`);
      const facts = findLastModelFacts(kernel, conversation);
      const own = new UsageSums();
      await using session = await kernel.session(id);
      for await (const usage of readRequestUsage(session, (model) => kernel.modelFacts(model)))
        own.add(usage);
      recorded = addTotals(recorded, own.total);
      const tokenPrice = getTokenPrice(facts);
      await study.replay(id, conversation, {
        protocol: prices === "standard" ? PROTOCOL : chooseReplayProtocol(own.total, facts),
        ...(tokenPrice !== undefined && { tokenPrice }),
      });
    };
    for (const operand of operands) {
      const path = resolve(context.cwd, operand);
      await using kernel = existsSync(path)
        ? await openKernel({ path: ":memory:" })
        : await openExistingStore(context, options);
      const ids = existsSync(path)
        ? await importSessions(kernel, path, context.signal)
        : [await findSession(kernel, operand, getSessionScope(context, options))];
      for (const id of ids) await replayOne(kernel, id);
    }
    if (options.all) {
      await using kernel = await openExistingStore(context, options);
      const ids: SessionId[] = [];
      for await (const id of listSessionIds(kernel)) ids.push(id);
      for (const [index, id] of ids.entries())
        await replayOne(kernel, id, `${index + 1} of ${ids.length} conversations  `);
    }
    if (operands.length === 0 && !options.all)
      for (const one of questions) await study.replay(one.id, one.conversation);
    const evidence = await scoreEvidence(questions, listEvidenceCases(policies, windows), (done) => {
      context.signal.throwIfAborted();
      status.update(() => `question ${done + 1} of ${questions.length}`);
    });
    status.clear();
    const totals = addEvidence(study.totals(), evidence);
    const text = options.json
      ? `${toSafeJson({ replays: totals, recorded })}\n`
      : renderReplayTable(totals, recorded, {
          paint: choosePaint(context, options),
          width: context.columns.stdout,
        });
    await printTo(context.stdout, text);
    return EXIT.fine;
  },
});

async function importSessions(
  kernel: Kernel,
  path: string,
  signal: AbortSignal,
): Promise<readonly SessionId[]> {
  const { sources } = await importSources(kernel, [path], { signal });
  return [...new Set(sources.filter(({ status }) => status !== "failed").map(({ session }) => session))];
}

function isBounded({ name }: Policy): boolean {
  return name !== "none";
}
