import type {
  ControlFigure,
  ControlGroup,
  ControlReport,
} from "../../conversation/control/control-report.ts";
import { escapeLine } from "../escape.ts";
import { formatCount, formatQuantity } from "../format-count.ts";
import { formatDollars } from "../format-dollars.ts";
import type { Paint } from "../paint.ts";
import { type Column, renderTable } from "../table.ts";
import { wrapText } from "../wrap-text.ts";

const COLUMNS: readonly Column[] = [
  { title: "per conversation" },
  { title: "control", align: "right" },
  { title: "edited", align: "right" },
  { title: "difference", align: "right" },
  { title: "95% interval", align: "right" },
];
const NAMES: Readonly<Record<ControlFigure["name"], string>> = {
  tokens: "tokens",
  cost: "cost",
  steps: "steps",
  rereads: "re-reads",
  overflows: "overflow errors",
  corrections: "user corrections",
};
const NONE = `No conversation has an arm yet. "control": 0.1 in longhaul.json leaves a tenth of new conversations unedited.`;

/** Formats a comparison of the arms of a control group. */
export function renderControl(
  { groups, minConversations }: ControlReport,
  { width, paint }: { readonly width: number; readonly paint: Paint },
): readonly string[] {
  if (groups.length === 0) return wrapText(NONE, width);
  return groups.flatMap((group, index) => {
    const { control, edited } = group.conversations;
    const counts = `measured: ${formatQuantity(control, "conversation")} in the control arm, ${formatCount(edited)} edited`;
    const few = group.isEnough
      ? []
      : [`Too few to compare: each arm needs ${formatCount(minConversations)} conversations.`];
    return [
      ...(index > 0 ? [""] : []),
      ...wrapText(`${describeGroup(group)}, ${counts}`, width).map((line) => paint("bold", line)),
      ...few.flatMap((line) => wrapText(line, width)).map((line) => paint("yellow", line)),
      ...renderTable(COLUMNS, group.figures.map(toRow), { width, paint }),
    ];
  });
}

function describeGroup({ agent, model }: ControlGroup): string {
  if (agent === undefined) return "All agents and models";
  return escapeLine(`${agent}, ${model ?? ""}`);
}

function toRow({ name, control, edited, difference, low, high }: ControlFigure): readonly string[] {
  const format = (value: number) => formatFigure(name, value);
  const signed = (value: number) => (Number.isNaN(value) ? "–" : `${value > 0 ? "+" : ""}${format(value)}`);
  const share = control > 0 && Number.isFinite(difference) ? ` (${formatPercent(difference / control)})` : "";
  const interval = Number.isNaN(low) ? "–" : `${signed(low)} to ${signed(high)}`;
  return [NAMES[name], format(control), format(edited), `${signed(difference)}${share}`, interval];
}

function formatFigure(name: ControlFigure["name"], value: number): string {
  if (Number.isNaN(value)) return "–";
  if (name === "cost") return value < 0 ? `-${formatDollars(-value)}` : formatDollars(value);
  return name === "tokens" ? formatCount(Math.round(value)) : value.toFixed(2);
}

function formatPercent(share: number): string {
  return `${share > 0 ? "+" : ""}${Math.round(100 * share)}%`;
}
