import { onTestFinished } from "vitest";
import { findTagged, reapTagged } from "../../../src/tasks/process/tagged.ts";

let count = 0;

/** A unique tag; its processes end with the test at the latest. */
export function freshTag(): string {
  const tag = `test-${process.pid}-${count++}`;
  onTestFinished(async () => {
    await reapTagged(tag, { graceMs: 0 });
  });
  return tag;
}

/** Number of running processes of a task. */
export async function countTagged(tag: string): Promise<number> {
  return (await findTagged(tag)).length;
}

/** Runs JavaScript in a separate Node process. */
export function script(code: string): { command: string; args: string[] } {
  return { command: process.execPath, args: ["-e", code] };
}

export function shell(code: string): { command: string; args: string[] } {
  return { command: "sh", args: ["-c", code] };
}
