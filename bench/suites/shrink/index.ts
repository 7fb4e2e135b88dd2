import { SHRINK_FILTERS } from "../../../src/kernel/faces/window.ts";
import { findDataFolder } from "../../real-strings.ts";
import { atLeast, atMost, toRow } from "../../result.ts";
import type { Measurement, Suite } from "../../suite.ts";
import { judgeFilters } from "./judge-filters.ts";

const JUDGE = new URL("./judge-filters.ts", import.meta.url).href;

/** Each filter of tool results alone, and all of them, over the recorded sessions. */
const filters: Measurement = {
  name: "filters",
  async *run(bench) {
    const data = findDataFolder();
    if (!data) {
      bench.note("Left out filters: no LONGHAUL_DATA and no shared/data beside the repository.");
      return;
    }
    const question = { data, every: bench.isQuick ? 8 : 1, filters: SHRINK_FILTERS };
    for (const answer of await bench.child("filters", JUDGE, judgeFilters, question)) {
      const { name, saved, shortened, needed, behind, againShort, againWhole, net, slowest } = answer;
      const row = (id: string, value: number, unit: string) => ({ id: `shrink.${name}.${id}`, value, unit });
      yield toRow(row("saved", 100 * saved, "% of the tokens of results"));
      yield toRow(row("shortened", shortened, "results"));
      yield toRow({
        ...row("lacked", 100 * needed, "% of them: a line or name used within ten replies stood nowhere"),
        goal: atMost(1, "%"),
      });
      yield toRow(
        row("behind", 100 * behind, "% of them: text of an edit within ten replies, behind a pointer"),
      );
      yield toRow({
        ...row("again", 100 * againShort, "% of them asked again within ten replies, as recorded"),
        beside: "results left whole",
        besideValue: 100 * againWhole,
      });
      yield toRow({
        ...row("net", 100 * net, "% of the tokens of results, had the agent read again what it lacked"),
        goal: atLeast(0, "%"),
      });
      if (name === "all") yield toRow(row("slowest", slowest, "ms for one result"));
    }
  },
};

/** Tool results that are shortened before they are first sent. */
export const shrink: Suite = { measurements: [filters] };
