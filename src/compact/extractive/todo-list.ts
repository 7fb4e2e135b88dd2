import type { Json } from "../../model/json.ts";
import { textOfMessage } from "../../model/message.ts";
import { parseToolArguments } from "../../touch/call-arguments.ts";
import { type Action, getResultText } from "./actions.ts";
import { citeOf, type SourceMessage } from "./source-message.ts";

/** A to-do item, as last written. */
export interface Todo {
  readonly text: string;
  readonly state: "done" | "doing" | "open";
  readonly cite: string;
}

const TODO_TOOLS =
  /^(?:todo_?write|update_?plan|todo|todos|update_?todo(?:_?list)?|write_?todos|plan|set_?plan|manage_?todo_?list)$/i;
const BOX = /^\s*(?:[-*+]|\d{1,3}[.)])\s+\[([ xX~/-])\]\s+(.{2,300})$/;

/** The latest to-do list, written with a to-do tool or as check boxes in a text; tasks created one by one add up. */
export function collectTodos(
  messages: readonly SourceMessage[],
  actions: readonly Action[],
): readonly Todo[] {
  let list: { readonly seq: number; readonly todos: readonly Todo[] } = { seq: -1, todos: [] };
  const tasks = new Map<string, Todo>();
  for (const action of actions) {
    applyTaskCall(tasks, action);
    const todos = parseTodoList(action);
    if (todos.length > 0) list = { seq: action.source.seq, todos };
  }
  for (const told of messages) {
    if (told.message.role !== "assistant" || told.seq < list.seq) continue;
    const todos = parseCheckBoxes(textOfMessage(told.message), citeOf(told));
    if (todos.length > 1) list = { seq: told.seq, todos };
  }
  return [...list.todos, ...tasks.values()];
}

function parseTodoList({ call, source: told }: Action): readonly Todo[] {
  const from = parseToolArguments(call.input);
  const cite = citeOf(told);
  if (typeof from?.task_progress === "string") return parseCheckBoxes(from.task_progress, cite);
  if (!TODO_TOOLS.test(call.name.replace(/^mcp__.+__/, ""))) return [];
  const items = from?.todos ?? from?.plan ?? from?.items ?? from?.todoList ?? from?.steps;
  if (typeof items === "string") return parseCheckBoxes(items, cite);
  return Array.isArray(items) ? (items as readonly Json[]).flatMap((item) => parseTodo(item, cite)) : [];
}

function parseTodo(item: Json, cite: string): readonly Todo[] {
  const fields = parseToolArguments(item);
  const text =
    typeof item === "string" ? item : (fields?.content ?? fields?.step ?? fields?.title ?? fields?.text);
  if (typeof text !== "string" || text.trim() === "") return [];
  return [{ text, state: parseState(String(fields?.status ?? fields?.state ?? "")), cite }];
}

function parseState(status: string): Todo["state"] {
  if (/^(?:completed?|done|finished|x)$/i.test(status)) return "done";
  return /progress|doing|active|started/i.test(status) ? "doing" : "open";
}

function parseCheckBoxes(text: string, cite: string): readonly Todo[] {
  if (!text.includes("[")) return [];
  return text.split("\n").flatMap((line): readonly Todo[] => {
    const [, mark, words] = BOX.exec(line) ?? [];
    if (words === undefined) return [];
    return [{ text: words, state: mark === " " ? "open" : /x/i.test(mark ?? "") ? "done" : "doing", cite }];
  });
}

/** Claude Code creates tasks one by one and updates them by number. */
function applyTaskCall(tasks: Map<string, Todo>, { call, source: told, result }: Action): void {
  const from = parseToolArguments(call.input);
  const cite = citeOf(told);
  if (call.name === "TaskCreate" && typeof from?.subject === "string") {
    const id = result && /#(\d+)/.exec(getResultText(result.part).slice(0, 200))?.[1];
    tasks.set(id ?? String(tasks.size + 1), { text: from.subject, state: "open", cite });
  } else if (call.name === "TaskUpdate" && from) {
    const id = String(from.taskId ?? from.id ?? "");
    const task = tasks.get(id);
    if (!task) return;
    if (from.status === "deleted") tasks.delete(id);
    else if (typeof from.status === "string")
      tasks.set(id, { ...task, state: parseState(from.status), cite });
  }
}
