import { createHash } from "node:crypto";
import type { TaskId } from "../../../model/task.ts";

/** Maximum bytes of a schema's name in pg-boss. */
const MAX_SCHEMA_BYTES = 50;

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The schema of the jobs that deliver the tasks of a store, beside the store's own. */
export function toJobSchema(schema: string): string {
  const name = `${schema}_jobs`;
  return name.length <= MAX_SCHEMA_BYTES ? name : `${schema.slice(0, 36)}_${hash(schema).slice(0, 8)}_jobs`;
}

/** The queue of jobs for one agent in one queue of tasks, so that a worker fetches nothing that it cannot run. */
export function toJobQueue(queue: string, agent: string): string {
  return `${toPlainName(queue)}/${toPlainName(agent)}`;
}

/** The id of the one job that delivers a task. */
export function toJobId(task: TaskId): string {
  const digits = hash(task);
  const variant = ((Number.parseInt(digits.slice(16, 17), 16) & 3) | 8).toString(16);
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(13, 16)}`,
    `${variant}${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ].join("-");
}

function toPlainName(name: string): string {
  return /^[\w.-]{1,60}$/.test(name) ? name : `hash-${hash(name).slice(0, 24)}`;
}
