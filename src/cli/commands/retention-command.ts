import type { Kernel } from "../../index.ts";
import { askYesNo } from "../ask-yes-no.ts";
import { choosePaint } from "../choose-paint.ts";
import { defineCommand } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { toSafeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { formatBytes } from "../format-bytes.ts";
import { formatQuantity } from "../format-count.ts";
import { formatAgo } from "../format-time.ts";
import { openExistingStore } from "../open-store.ts";
import { printLines } from "../print-lines.ts";
import { printTo } from "../printer.ts";
import { hasBeenUsed, readFamilies } from "../retention/read-families.ts";
import { planRetention, type RetentionDecision, type RetentionPlan } from "../retention/retention-plan.ts";
import { chooseRules } from "../retention/retention-rules.ts";
import { type Column, renderTable } from "../table.ts";
import { getActor } from "../team/person-options.ts";

const COLUMNS: readonly Column[] = [
  { title: "conversation", shrinks: "first" },
  { title: "agent", look: "cyan" },
  { title: "used" },
  { title: "size", align: "right" },
  { title: "why" },
];

/** The result of a deletion. */
interface Deletion {
  readonly decisions: readonly RetentionDecision[];
  /** Conversations that were used meanwhile and stay. */
  readonly spared: readonly RetentionDecision[];
  readonly freedBytes: number;
}

/** Deletes old conversations by rules of age and size. */
export const retentionCommand = defineCommand({
  name: "retention",
  summary: "delete old conversations by age, by total size, or for one agent or person",
  usage: ["retention [--older-than TIME] [--max-size SIZE] [--person NAME] [options]"],
  about:
    'Shows the conversations that would go and asks; without a terminal it only shows them, unless --yes is given. Without --older-than and --max-size the rules of the configuration apply (key "retention"). A conversation goes with its sub-agents and forks, and never while any of them has a pin, a running task or an entry of the last hour. Memories stay. There is no undo: take a backup first.',
  options: {
    "older-than": {
      type: "string",
      value: "TIME",
      help: "conversations that nobody used for this long: 90d, 6m, 1y",
    },
    "max-size": {
      type: "string",
      value: "SIZE",
      help: "keep at most this much, such as 5g; the longest unused conversations go",
    },
    agent: { type: "string", value: "NAME", help: "only conversations of this agent, such as claude-code" },
    person: { type: "string", value: "NAME", help: "only conversations of this person of a shared gateway" },
    "dry-run": { type: "boolean", help: "show the conversations and delete nothing" },
    yes: { type: "boolean", short: "y", help: "delete without asking" },
  },
  maxOperands: 0,
  examples: [
    "longhaul retention --older-than 6m",
    "longhaul retention --max-size 5g --agent claude-code --dry-run",
    "longhaul retention --yes --json",
  ],
  async run(context, { options }) {
    const rules = await chooseRules(context, options);
    const now = Date.now();
    await using kernel = await openExistingStore(context, options);
    const families = await readFamilies(
      kernel,
      now,
      (family) => planRetention([family], rules.map(withoutSize), now).deleted.length > 0,
    );
    const plan = planRetention(families, rules, now);
    const isWanted =
      !options["dry-run"] &&
      plan.deleted.length > 0 &&
      (options.yes === true || (await isConfirmed(context, plan, options, now)));
    const done = isWanted ? await deleteFamilies(kernel, plan.deleted) : undefined;
    if (done && done.decisions.length > 0)
      await kernel.team.record({
        actor: getActor(),
        act: "retention.delete",
        target: options.person ?? "*",
        details: { conversations: done.decisions.length, freedBytes: done.freedBytes },
      });
    if (options.json) {
      const report = {
        isDryRun: !isWanted,
        deleted: (done?.decisions ?? plan.deleted).map(toJson),
        kept: [...plan.kept, ...(done?.spared ?? [])].map(toJson),
        freedBytes: done?.freedBytes ?? plan.deleted.reduce((sum, { family }) => sum + family.sizeBytes, 0),
      };
      await printTo(context.stdout, `${toSafeJson(report)}\n`);
    } else if (!options.quiet) await printLines(context, renderResult(context, plan, done, options, now));
    return EXIT.fine;
  },
});

/** A size limit may reach any conversation, so every one of them counts as due. */
function withoutSize<Rule extends { readonly olderThanMs?: number; readonly maxBytes?: number }>(rule: Rule) {
  return rule.maxBytes === undefined ? rule : { ...rule, olderThanMs: 0 };
}

async function deleteFamilies(kernel: Kernel, decisions: readonly RetentionDecision[]): Promise<Deletion> {
  const deleted: RetentionDecision[] = [];
  const spared: RetentionDecision[] = [];
  let freedBytes = 0;
  for (const decision of decisions) {
    const { family } = decision;
    if (await hasBeenUsed(kernel, family)) {
      spared.push({ ...decision, family: { ...family, keptBecause: "in use" } });
      continue;
    }
    const freed = await kernel.deleteSession(family.root, { recursive: true });
    freedBytes += freed.payloadBytes + freed.blobBytes;
    deleted.push(decision);
  }
  return { decisions: deleted, spared, freedBytes };
}

async function isConfirmed(
  context: CliContext,
  plan: RetentionPlan,
  options: { readonly json?: boolean },
  now: number,
): Promise<boolean> {
  if (options.json || !context.isTerminal.stdin || !context.isTerminal.stdout) return false;
  await printLines(context, renderPlan(context, plan, options, now));
  return askYesNo(context, "Delete them permanently?");
}

function renderPlan(
  context: CliContext,
  plan: RetentionPlan,
  options: object,
  now: number,
): readonly string[] {
  const rows = [...plan.deleted, ...plan.kept].map(({ family, reason }) => [
    family.title ?? family.root,
    family.agent ?? "",
    formatAgo(family.usedAt, now),
    formatBytes(family.sizeBytes),
    family.keptBecause === undefined ? reason : `stays: ${family.keptBecause}`,
  ]);
  if (rows.length === 0) return ["No conversation is due."];
  const view = { width: context.columns.stdout, paint: choosePaint(context, options) };
  const sizeBytes = plan.deleted.reduce((sum, { family }) => sum + family.sizeBytes, 0);
  return [
    ...renderTable(COLUMNS, rows, view),
    `${formatQuantity(plan.deleted.length, "conversation")} due, about ${formatBytes(sizeBytes)}.`,
  ];
}

function renderResult(
  context: CliContext,
  plan: RetentionPlan,
  done: Deletion | undefined,
  options: object,
  now: number,
): readonly string[] {
  if (!done) {
    const hint = plan.deleted.length > 0 ? ["Nothing was deleted; --yes deletes them."] : [];
    return [...renderPlan(context, plan, options, now), ...hint];
  }
  const spared =
    done.spared.length > 0 ? ` ${formatQuantity(done.spared.length, "other")} came into use.` : "";
  return [
    `Deleted ${formatQuantity(done.decisions.length, "conversation")}: ${formatBytes(done.freedBytes)}.${spared}`,
  ];
}

function toJson({ family, reason }: RetentionDecision) {
  const { root, title, agent, sessions, usedAt, sizeBytes, keptBecause } = family;
  return { id: root, title, agent, sessions: sessions.length, usedAt, sizeBytes, reason, keptBecause };
}
