import type { AuditEntry } from "../../kernel/faces/people.ts";
import { defineCommand } from "../cli-command.ts";
import { EXIT } from "../exit-code.ts";
import { openExistingStore } from "../open-store.ts";
import { choosePaint } from "../terminal/choose-paint.ts";
import { printJson, printLines } from "../terminal/print-lines.ts";
import { type Column, renderTable } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";

const PAGE = 1_000;
const COLUMNS: readonly Column[] = [
  { title: "seq", align: "right" },
  { title: "time" },
  { title: "by", look: "cyan" },
  { title: "act" },
  { title: "target" },
  { title: "details", shrinks: "first" },
];

/** Shows the log of administrative acts. */
export const auditCommand = defineCommand({
  name: "audit",
  summary: "show administrative acts: people, tokens, budgets, erasures, exports",
  usage: ["audit [--after SEQ]"],
  about:
    "The log is append-only, and each entry holds the digest of the one before. The command checks the whole chain and ends with 3 if an entry is missing or was changed.",
  options: { after: { type: "string", value: "SEQ", help: "only entries after this one" } },
  maxOperands: 0,
  examples: ["longhaul audit", "longhaul audit --after 100 --json"],
  async run(context, { options }) {
    if (options.after !== undefined && !/^\d{1,15}$/.test(options.after))
      throw new UsageError(`--after is ${JSON.stringify(options.after)}; expected the number of an entry`);
    await using kernel = await openExistingStore(context, options);
    const problem = await kernel.team.verifyAudit();
    const entries: AuditEntry[] = [];
    for (let after = Number(options.after ?? 0); ; ) {
      const page = await kernel.team.audit({ after, limit: PAGE });
      entries.push(...page);
      if (page.length < PAGE) break;
      after = page.at(-1)?.seq ?? after;
    }
    if (options.json) await printJson(context, { entries, problem: problem ?? null });
    else {
      const view = { width: context.columns.stdout, paint: choosePaint(context, options) };
      const rows = entries.map(({ seq, at, actor, act, target, details }) => [
        String(seq),
        new Date(at).toISOString().slice(0, 19).replace("T", " "),
        actor,
        act,
        target,
        JSON.stringify(details),
      ]);
      const lines =
        rows.length === 0 ? ["No administrative act is recorded."] : renderTable(COLUMNS, rows, view);
      const verdict = problem === undefined ? "The chain is whole." : `The chain is broken: ${problem}.`;
      await printLines(context, rows.length === 0 ? lines : [...lines, verdict]);
    }
    return problem === undefined ? EXIT.fine : EXIT.incomplete;
  },
});
