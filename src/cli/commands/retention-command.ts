import { readPinnedEntries } from "../../kernel/calls/read-pinned-entries.ts";
import type { Kernel, SessionId, SessionRecord } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { findMemoryOwner, findSessionOwner, mapPersonNames } from "../../model/session-key.ts";
import { findOrigin } from "../../model/session-origin.ts";
import { type CommonValues, defineCommand } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { EXIT } from "../exit-code.ts";
import { listSessions } from "../find-session.ts";
import { getStorePath, openExistingStore } from "../open-store.ts";
import { listActiveTasks } from "../tasks/collect-tasks.ts";
import { parseSize } from "../tasks/units.ts";
import { getActor } from "../team/person-options.ts";
import { askYesNo } from "../terminal/ask-yes-no.ts";
import { choosePaint } from "../terminal/choose-paint.ts";
import { formatBytes } from "../terminal/format-bytes.ts";
import { formatQuantity } from "../terminal/format-count.ts";
import { formatAgo } from "../terminal/format-time.ts";
import { printJson, printLines } from "../terminal/print-lines.ts";
import { type Column, renderTable } from "../terminal/table.ts";
import { DAY, HOUR, parseLength, type TimeUnits } from "../terminal/times.ts";
import { UsageError } from "../usage-error.ts";

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
      await printJson(context, report);
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
  const bulkhead = kernel.maintenance.bulkhead("retention");
  for (const decision of decisions) {
    const { family } = decision;
    const freed = await bulkhead.run(family.root, async () =>
      (await hasBeenUsed(kernel, family))
        ? "in use"
        : kernel.deleteSession(family.root, { recursive: true, by: getActor() }),
    );
    if (freed === undefined || freed === "in use") {
      spared.push({ ...decision, family: { ...family, keptBecause: freed ?? "failed" } });
      continue;
    }
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
    done.spared.length > 0
      ? ` ${formatQuantity(done.spared.length, "other")} came into use or could not be deleted.`
      : "";
  return [
    `Deleted ${formatQuantity(done.decisions.length, "conversation")}: ${formatBytes(done.freedBytes)}.${spared}`,
  ];
}

function toJson({ family, reason }: RetentionDecision) {
  const { root, title, agent, sessions, usedAt, sizeBytes, keptBecause } = family;
  return { id: root, title, agent, sessions: sessions.length, usedAt, sizeBytes, reason, keptBecause };
}

/** A conversation that was used within this time counts as in use. */
const IN_USE_MS = 60 * 60 * 1_000;
/** Sessions of memories hold what people asked to remember; "longhaul forget" removes those. */

/** Reads all conversations with their sizes; `mayGo` tells for which of them pins and drafts matter. */
async function readFamilies(
  kernel: Kernel,
  now: number,
  mayGo: (family: RetentionFamily) => boolean,
): Promise<readonly RetentionFamily[]> {
  const records = new Map<SessionId, SessionRecord>();
  for await (const record of listSessions(kernel)) records.set(record.id, record);
  const members = new Map<SessionId, { ids: SessionId[]; usedAt: number; sizeBytes: number }>();
  for await (const { session, usedAt, payloadBytes, blobBytes } of kernel.maintenance.sessionSizes()) {
    if (findMemoryOwner(session) !== undefined) continue;
    const root = findRoot(session, records);
    const family = members.get(root) ?? { ids: [], usedAt: 0, sizeBytes: 0 };
    family.ids.push(session);
    family.usedAt = Math.max(family.usedAt, usedAt);
    family.sizeBytes += payloadBytes + blobBytes;
    members.set(root, family);
  }
  const busy = new Set((await listActiveTasks(kernel)).map(({ session }) => session));
  const names = mapPersonNames(await kernel.team.people());
  const families: RetentionFamily[] = [];
  for (const [root, { ids, usedAt, sizeBytes }] of members) {
    const record = records.get(root);
    const { agent } = record ? findOrigin(record) : {};
    const family: RetentionFamily = {
      root,
      ...dropUndefined({ title: record?.title, agent }),
      person: findSessionOwner(root, names),
      sessions: ids,
      usedAt,
      sizeBytes,
    };
    const isRecent = now - usedAt < IN_USE_MS || ids.some((id) => busy.has(id));
    const keptBecause = isRecent ? "in use" : mayGo(family) ? await findReason(kernel, ids) : undefined;
    families.push({ ...family, ...dropUndefined({ keptBecause }) });
  }
  return families;
}

async function findReason(
  kernel: Kernel,
  ids: readonly SessionId[],
): Promise<"pinned" | "in use" | undefined> {
  for (const id of ids) {
    await using session = await kernel.session(id);
    if ((await session.drafts()).length > 0) return "in use";
    if ((await readPinnedEntries(session)).length > 0) return "pinned";
  }
  return undefined;
}

/** True if a conversation was used after its family was read. */
async function hasBeenUsed(kernel: Kernel, { sessions, usedAt }: RetentionFamily): Promise<boolean> {
  for (const id of sessions) {
    if (!(await kernel.find(id))) continue;
    await using session = await kernel.session(id);
    const { seq, at } = await session.head();
    if (seq > 0 && at > usedAt) return true;
  }
  return false;
}

function findRoot(id: SessionId, records: ReadonlyMap<SessionId, SessionRecord>): SessionId {
  let root = id;
  for (let parent = records.get(id)?.parent; parent !== undefined; parent = records.get(parent)?.parent)
    root = parent;
  return root;
}

/** "m" is a month, as for --since. */
const UNITS: TimeUnits = { h: HOUR, d: DAY, w: 7 * DAY, m: 30 * DAY, y: 365 * DAY };

interface RetentionOptions extends CommonValues {
  readonly "older-than"?: string;
  readonly "max-size"?: string;
  readonly agent?: string;
  readonly person?: string;
}

/** The rule that the options give, otherwise the rules of the configuration; those of single agents come first. */
async function chooseRules(
  context: CliContext,
  options: RetentionOptions,
): Promise<readonly RetentionRule[]> {
  const { agent, person } = options;
  const forOne = dropUndefined({ agent, person });
  if (options["older-than"] !== undefined || options["max-size"] !== undefined) {
    return [
      {
        ...forOne,
        ...(options["older-than"] !== undefined && { olderThanMs: parseAge(options["older-than"]) }),
        ...(options["max-size"] !== undefined && { maxBytes: parseSize("max-size", options["max-size"]) }),
      },
    ];
  }
  const { loadConfig } = await import("../../server/gateway/config/index.ts");
  const { cwd, home, env } = context;
  const { config } = loadConfig({ cwd, home, env, store: getStorePath(context, options), flags: {} });
  const { agents, people, ...general } = config.retention;
  const rules = [
    ...Object.entries(people).map(([name, rule]) => toRule(rule, { person: name })),
    ...Object.entries(agents).map(([name, rule]) => toRule(rule, { agent: name })),
    toRule(general, {}),
  ].filter(({ olderThanMs, maxBytes }) => olderThanMs !== undefined || maxBytes !== undefined);
  const wanted = rules.filter(
    (rule) =>
      (agent === undefined || rule.agent?.startsWith(agent)) &&
      (person === undefined || rule.person === person),
  );
  if (wanted.length > 0) return wanted;
  throw new UsageError(
    'there is no rule; give --older-than or --max-size, or set "retention" in the configuration: longhaul config set retention.maxAgeDays 180',
  );
}

function toRule(
  { maxAgeDays, maxBytes }: { readonly maxAgeDays?: number; readonly maxBytes?: number },
  scope: Pick<RetentionRule, "agent" | "person">,
): RetentionRule {
  return {
    ...scope,
    ...(maxAgeDays !== undefined && { olderThanMs: maxAgeDays * DAY }),
    ...dropUndefined({ maxBytes }),
  };
}

function parseAge(text: string): number {
  const age = parseLength(text, UNITS);
  if (age !== undefined && age >= DAY) return age;
  throw new UsageError(
    `--older-than is ${JSON.stringify(text)}; expected a duration of at least a day, such as 30d, 8w, 6m or 1y`,
  );
}

/** A conversation with its sub-agents and forks, which stay or go together. */
export interface RetentionFamily {
  /** The session at the top; deleting it deletes the others. */
  readonly root: SessionId;
  readonly title?: string;
  readonly agent?: string;
  /** The person that the conversation belongs to; "local" without a token. */
  readonly person: string;
  readonly sessions: readonly SessionId[];
  /** Last use of any of them. */
  readonly usedAt: number;
  readonly sizeBytes: number;
  /** Reason why the family stays whatever the rules say. */
  readonly keptBecause?: "pinned" | "in use" | "failed";
}

/** Limits of conversations; each limit is optional. */
interface RetentionRule {
  /** Agents whose names begin with this; all if undefined. */
  readonly agent?: string;
  /** Only conversations of this person; all if undefined. */
  readonly person?: string;
  readonly olderThanMs?: number;
  readonly maxBytes?: number;
}

/** The decision on one family. */
interface RetentionDecision {
  readonly family: RetentionFamily;
  readonly reason: "age" | "size";
}

/** The decisions of a run. */
interface RetentionPlan {
  readonly deleted: readonly RetentionDecision[];
  /** Families that a rule would delete and that stay, with the reason in `keptBecause`. */
  readonly kept: readonly RetentionDecision[];
}

/**
 * Decides which families go. The first rule whose agent and person match applies to a family, so rules for single
 * people and agents come before the general one. Under a size limit the longest unused go first.
 */
export function planRetention(
  families: readonly RetentionFamily[],
  rules: readonly RetentionRule[],
  now: number,
): RetentionPlan {
  const deleted: RetentionDecision[] = [];
  const kept: RetentionDecision[] = [];
  const groups = new Map<RetentionRule, RetentionFamily[]>();
  for (const family of families) {
    const rule = rules.find(
      ({ agent, person }) =>
        matchesAgent(family, agent) && (person === undefined || person === family.person),
    );
    if (rule) groups.set(rule, [...(groups.get(rule) ?? []), family]);
  }
  for (const [rule, group] of groups) {
    let sizeBytes = group.reduce((sum, family) => sum + family.sizeBytes, 0);
    for (const family of group.toSorted((one, other) => one.usedAt - other.usedAt)) {
      const isOld = rule.olderThanMs !== undefined && now - family.usedAt > rule.olderThanMs;
      const isOver = rule.maxBytes !== undefined && sizeBytes > rule.maxBytes;
      if (!isOld && !isOver) continue;
      const decision: RetentionDecision = { family, reason: isOld ? "age" : "size" };
      if (family.keptBecause !== undefined) kept.push(decision);
      else {
        deleted.push(decision);
        sizeBytes -= family.sizeBytes;
      }
    }
  }
  return { deleted, kept };
}

function matchesAgent(family: RetentionFamily, agent: string | undefined): boolean {
  return agent === undefined || family.agent?.toLowerCase().startsWith(agent.toLowerCase()) === true;
}
