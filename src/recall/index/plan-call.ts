import type { Json } from "../../model/json.ts";
import type { ToolCallPart } from "../../model/part.ts";
import { parseToolArguments } from "../../window/effects/call-arguments.ts";

/** The plan that a tool call writes. */
interface PlanCall {
  /** Texts of the items that are being worked on. */
  readonly active: readonly string[];
  /** Number of an item of an earlier call that is being worked on from now on. */
  readonly activeId?: string;
}

/** Fields in which agents keep the text of an item. */
const ITEM_TEXTS = ["content", "step", "title", "description", "text"] as const;
const ACTIVE = /^in[ _-]?progress$/i;

/**
 * The plan in a call's input: a list of items with a status, or the new status of one item; undefined for other calls.
 */
export function parsePlanCall({ input }: ToolCallPart): PlanCall | undefined {
  const fields = parseToolArguments(input);
  if (!fields) return undefined;
  const items = Object.values(fields).find(isItemList);
  if (items) {
    const active = items.filter(({ status }) => typeof status === "string" && ACTIVE.test(status));
    return { active: active.flatMap((item) => findItemText(item) ?? []) };
  }
  const { taskId, status } = fields;
  if ((typeof taskId !== "string" && typeof taskId !== "number") || typeof status !== "string")
    return undefined;
  return { active: [], ...(ACTIVE.test(status) && { activeId: String(taskId) }) };
}

type Item = { readonly [name: string]: Json };

function isItemList(value: Json): value is readonly Item[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(
      (item) => item !== null && typeof item === "object" && "status" in item && !!findItemText(item),
    )
  );
}

function findItemText(item: Json): string | undefined {
  const fields = item as Item;
  const name = ITEM_TEXTS.find((field) => typeof fields[field] === "string" && fields[field] !== "");
  return name === undefined ? undefined : (fields[name] as string);
}
