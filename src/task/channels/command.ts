import { spawn } from "node:child_process";
import { invalidArgument } from "../../model/errors.ts";
import type { NoticeChannel } from "../after-end.ts";

/** What to run for each notice. */
export interface CommandOptions {
  /** Program and arguments; no shell is between. */
  readonly command: readonly string[];
  readonly limitMs?: number;
}

const MAX_TROUBLE_CHARACTERS = 500;

/** Runs a program for each notice: the notice is JSON on its standard input, its id in LONGHAUL_NOTICE_ID. */
export function commandChannel({ command, limitMs }: CommandOptions): NoticeChannel {
  const [program, ...args] = command;
  if (program === undefined || program === "")
    throw invalidArgument("command", command, "a program and its arguments");
  return {
    name: `command ${program}`,
    ...(limitMs !== undefined && { limitMs }),
    send: (notice, signal) =>
      new Promise((resolve, reject) => {
        const child = spawn(program, args, {
          stdio: ["pipe", "ignore", "pipe"],
          env: { ...process.env, LONGHAUL_NOTICE_ID: notice.id },
          signal,
        });
        let trouble = "";
        child.stderr.setEncoding("utf8").on("data", (text: string) => {
          trouble = (trouble + text).slice(-MAX_TROUBLE_CHARACTERS);
        });
        child.on("error", reject);
        child.on("close", (code, killer) => {
          if (code === 0) resolve();
          else reject(new Error(`it ended with ${killer ?? `exit code ${code}`}: ${trouble.trim()}`));
        });
        // A program that does not read what it is told ends the pipe early, which is its right.
        child.stdin.on("error", () => undefined);
        child.stdin.end(`${JSON.stringify(notice)}\n`);
      }),
  };
}
