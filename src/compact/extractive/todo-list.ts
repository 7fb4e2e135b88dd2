import type { Json } from "../../model/json.ts";
import { textOfMessage } from "../../model/message.ts";
import { argumentsOf } from "../../window/touch/arguments.ts";
import { type Action, textOfResult } from "./actions.ts";
import { citeOf, type Told } from "./told.ts";

/** A to-do item, as last written. */
export interface Todo {
  readonly text: string;
  readonly state: "done" | "doing" | "open";
  readonly cite: string;
}

const LISTS =
  /^(?:todo_?write|update_?plan|todo|todos|update_?todo(?:_?list)?|write_?todos|plan|set_?plan|manage_?todo_?list)$/i;
const BOX = /^\s*(?:[-*+]|\d{1,3}[.)])\s+\[([ xX~/-])\]\s+(.{2,300})$/;

/** The latest to-do list, written with a to-do tool or as check boxes in a text; tasks created one by one add up. */
export function todosOf(messages: readonly Told[], actions: readonly Action[]): readonly Todo[] {
  let list: { readonly seq: number; readonly todos: readonly Todo[] } = { seq: -1, todos: [] };
  const tasks = new Map<string, Todo>();
  for (const action of actions) {
    noteTask(tasks, action);
    const todos = listOf(action);
    if (todos.length > 0) list = { seq: action.told.seq, todos };
  }
  for (const told of messages) {
    if (told.message.role !== "assistant" || told.seq < list.seq) continue;
    const todos = boxesIn(textOfMessage(told.message), citeOf(told));
    if (todos.length > 1) list = { seq: told.seq, todos };
  }
  return [...list.todos, ...tasks.values()];
}

function listOf({ call, told }: Action): readonly Todo[] {
  const from = argumentsOf(call.input);
  const cite = citeOf(told);
  if (typeof from?.task_progress === "string") return boxesIn(from.task_progress, cite);
  if (!LISTS.test(call.name.replace(/^mcp__.+__/, ""))) return [];
  const items = from?.todos ?? from?.plan ?? from?.items ?? from?.todoList ?? from?.steps;
  if (typeof items === "string") return boxesIn(items, cite);
  return Array.isArray(items) ? (items as readonly Json[]).flatMap((item) => todoOf(item, cite)) : [];
}

function todoOf(item: Json, cite: string): readonly Todo[] {
  const fields = argumentsOf(item);
  const text =
    typeof item === "string" ? item : (fields?.content ?? fields?.step ?? fields?.title ?? fields?.text);
  if (typeof text !== "string" || text.trim() === "") return [];
  return [{ text, state: stateOf(String(fields?.status ?? fields?.state ?? "")), cite }];
}

function stateOf(status: string): Todo["state"] {
  if (/^(?:completed?|done|finished|x)$/i.test(status)) return "done";
  return /progress|doing|active|started/i.test(status) ? "doing" : "open";
}

function boxesIn(text: string, cite: string): readonly Todo[] {
  if (!text.includes("[")) return [];
  return text.split("\n").flatMap((line): readonly Todo[] => {
    const [, mark, words] = BOX.exec(line) ?? [];
    if (words === undefined) return [];
    return [{ text: words, state: mark === " " ? "open" : /x/i.test(mark ?? "") ? "done" : "doing", cite }];
  });
}

/** Claude Code creates tasks one by one and updates them by number. */
function noteTask(tasks: Map<string, Todo>, { call, told, result }: Action): void {
  const from = argumentsOf(call.input);
  const cite = citeOf(told);
  if (call.name === "TaskCreate" && typeof from?.subject === "string") {
    const id = result && /#(\d+)/.exec(textOfResult(result.part).slice(0, 200))?.[1];
    tasks.set(id ?? String(tasks.size + 1), { text: from.subject, state: "open", cite });
  } else if (call.name === "TaskUpdate" && from) {
    const id = String(from.taskId ?? from.id ?? "");
    const task = tasks.get(id);
    if (!task) return;
    if (from.status === "deleted") tasks.delete(id);
    else if (typeof from.status === "string") tasks.set(id, { ...task, state: stateOf(from.status), cite });
  }
}
