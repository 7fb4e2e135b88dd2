import { randomUUID } from "node:crypto";
import { checkFields, checkKind } from "../../model/argument-checks.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { createArgumentError } from "../../model/errors.ts";
import type { NoticeChannel } from "../after-end.ts";
import { runCommand } from "../process/run-command.ts";

/** Options of `commandChannel`. */
interface CommandChannelOptions {
  /** Program and arguments; no shell is involved. */
  readonly command: readonly string[];
  readonly limitMs?: number;
}

const MAX_TROUBLE_BYTES = 500;

/**
 * Runs a program for each notice: the notice is JSON on its standard input, its id is in LONGHAUL_NOTICE_ID. A program
 * that exceeds the limit is ended together with its child processes.
 */
export function commandChannel(options: CommandChannelOptions): NoticeChannel {
  const { command, limitMs } = checkFields("options", options, { command: "array" });
  for (const [index, word] of command.entries()) checkKind(`command[${index}]`, word, "text");
  const [program, ...args] = command;
  if (program === undefined || program === "")
    throw createArgumentError("command", command, "a program and its arguments");
  return {
    name: `command ${program}`,
    ...dropUndefined({ limitMs }),
    async send(notice, signal) {
      const { reason, exitCode, ...end } = await runCommand({
        command: program,
        args,
        tag: `notice-${randomUUID()}`,
        env: { LONGHAUL_NOTICE_ID: notice.id },
        input: `${JSON.stringify(notice)}\n`,
        // Processes that the program leaves running on purpose, such as a window, are not ours to end.
        leftovers: "keep",
        keepBytes: MAX_TROUBLE_BYTES,
        drainMs: 200,
        graceMs: 500,
        signal,
      });
      if (reason === "exited" && exitCode === 0) return;
      throw new Error(`it ended with ${end.signal ?? `exit code ${exitCode}`}: ${end.stderr.trim()}`);
    },
  };
}

/** Options of `webhookChannel`. */
interface WebhookOptions {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly limitMs?: number;
}

/** Posts each notice as JSON; the Idempotency-Key header holds its id and is the same on every retry. */
export function webhookChannel(options: WebhookOptions): NoticeChannel {
  const { url, headers, limitMs } = checkFields("options", options, { url: "name", headers: "object?" });
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ""))
    throw createArgumentError("url", url, "an http or https address");
  return {
    name: `webhook ${new URL(url).host}`,
    ...dropUndefined({ limitMs }),
    send: async (notice, signal) => {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers, "idempotency-key": notice.id },
        body: JSON.stringify(notice),
        signal,
      });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`it answered with status ${response.status}`);
    },
  };
}
